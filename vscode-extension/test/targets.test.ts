import assert from "node:assert/strict";
import { test } from "node:test";
import { idsOf, namesOf, placeOf, targetOf, testItemOf } from "../src/targets";

const ITEM = { id: "/p/tests/test_a.py::TestA::test_b[x::y]" };

test("an item, an item with a message, and a list of both are understood", () => {
  for (const argument of [ITEM, { test: ITEM, message: {} }, [ITEM], [{ test: ITEM }]]) assert.equal(testItemOf(argument), ITEM);
  for (const argument of [undefined, null, 3, {}, [], { id: 7 }]) assert.equal(testItemOf(argument), undefined);
});

test("the id's brackets may hold colons", () => {
  assert.deepEqual(targetOf(ITEM), { target: ITEM.id, names: ["TestA", "test_b[x::y]"] });
  assert.deepEqual(targetOf({ id: "C:\\p\\test_a.py::test_b" })?.names, ["test_b"]);
});

test("a file is a target, a folder and a unittest id are not", () => {
  assert.deepEqual(targetOf({ id: "/p/tests/test_a.py" }), { target: "/p/tests/test_a.py", names: [] });
  assert.equal(targetOf({ id: "/p/tests" }), undefined);
  assert.equal(targetOf({ id: "tests.test_a.TestA.test_b" }), undefined);
});

test("ids of unittest and of several projects are understood", () => {
  assert.deepEqual(placeOf("/p/test_a.py\\TestA\\test_b"), { path: "/p/test_a.py", names: ["TestA", "test_b"] });
  assert.deepEqual(placeOf("C:\\p\\test_a.py\\TestA\\test_b"), { path: "C:\\p\\test_a.py", names: ["TestA", "test_b"] });
  assert.deepEqual(placeOf("file:///p@@vsc@@/p/test_a.py::test_b[a\\b]"), { path: "/p/test_a.py", names: ["test_b[a\\b]"] });
  assert.equal(targetOf({ id: "/p/test_a.py\\TestA\\test_b" })?.target, "/p/test_a.py::TestA::test_b");
  assert.equal(placeOf(""), undefined);
});

const FILE = ["python-tests", "/p", "/p/tests", "/p/tests/test_a.py"];
const KNOWN = [
  ["other", "/p/tests/test_a.py::test_one"],
  FILE,
  [...FILE, "/p/tests/test_a.py::test_one"],
  [...FILE, "/p/tests/test_a.py::test_many"],
  [...FILE, "/p/tests/test_a.py::test_many", "/p/tests/test_a.py::test_many[x::y-1]"],
  [...FILE, "/p/tests/test_a.py::TestA", "/p/tests/test_a.py::TestA::test_one"],
];

test("the Test Explorer is asked for exactly the wanted test, the Python extension's own first", () => {
  const ask = (...names: string[]): string[] => idsOf(KNOWN, "/p/tests/test_a.py", [names]);
  assert.deepEqual(ask("test_one"), [[...FILE, "/p/tests/test_a.py::test_one"].join("\0")]);
  assert.deepEqual(ask("TestA", "test_one"), [[...FILE, "/p/tests/test_a.py::TestA", "/p/tests/test_a.py::TestA::test_one"].join("\0")]);
  assert.deepEqual(ask("test_many[x::y-1]"), [[...FILE, "/p/tests/test_a.py::test_many", "/p/tests/test_a.py::test_many[x::y-1]"].join("\0")]);
  assert.deepEqual(ask(), [FILE.join("\0")], "the whole file");
});

test("a test that the Testing view does not know is not asked for", () => {
  assert.deepEqual(idsOf(KNOWN, "/p/tests/test_a.py", [["test_new"]]), []);
  assert.deepEqual(idsOf(KNOWN, "/p/test_a.py", [["test_one"]]), [], "a file of the same name elsewhere");
  assert.deepEqual(idsOf([], "/p/tests/test_a.py", [["test_one"]]), []);
  assert.equal(idsOf(KNOWN, "/p/tests/test_a.py", [["test_one"], ["test_new"], ["test_many"]]).length, 2);
});

test("Windows paths are the same in other capitals, others are not", () => {
  const known = [["python-tests", "c:\\p\\test_a.py::test_b"]];
  assert.equal(idsOf(known, "C:\\P\\test_a.py", [["test_b"]]).length, 1);
  assert.equal(idsOf([["python-tests", "/p/test_a.py::test_b"]], "/P/test_a.py", [["test_b"]]).length, 0);
});

test("names of a node id keep colons in brackets", () => {
  assert.deepEqual(namesOf("tests/test_a.py::TestA::test_b[x::y]"), ["TestA", "test_b[x::y]"]);
  assert.deepEqual(namesOf("tests/test_a.py"), []);
});

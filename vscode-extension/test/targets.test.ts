import assert from "node:assert/strict";
import { test } from "node:test";
import { targetOf, testItemOf } from "../src/targets";

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

/** Names of tests as the Test Explorer hands them over. Pure: no editor in here. */

/** What a test menu passes to a command: an item, or an item with one of its failure messages. */
export interface TestItemLike {
  id: string;
  uri?: { toString(): string; fsPath: string };
}

/** A test in a file; without names, the whole file. */
export interface Place {
  path: string;
  names: string[];
}

/** Stands between a project's id and the rest in ids of the Python extension, where it knows several projects. */
const PROJECT = "@@vsc@@";
const PYTHON = "python-tests";

/** The test item inside whatever a menu of the Test Explorer passed, or undefined. */
export function testItemOf(argument: unknown): TestItemLike | undefined {
  if (typeof argument !== "object" || argument === null) return undefined;
  if ("test" in argument) return testItemOf(argument.test);
  if (Array.isArray(argument)) return testItemOf(argument[0]);
  return "id" in argument && typeof argument.id === "string" ? (argument as TestItemLike) : undefined;
}

/**
 * The target in an item's id. The Python extension uses `/abs/test_a.py::TestA::test_b[id]` for pytest and
 * `/abs/test_a.py\TestA\test_b` for unittest, whose tests pytest runs as well; a folder gives undefined.
 */
export function targetOf(item: TestItemLike): { target: string; names: string[] } | undefined {
  const place = placeOf(item.id);
  return place && { target: [place.path, ...place.names].join("::"), names: place.names };
}

/** The file and the names in an item's id, or undefined when it names no Python file. */
export function placeOf(id: string): Place | undefined {
  const own = id.includes(PROJECT) ? id.slice(id.indexOf(PROJECT) + PROJECT.length) : id;
  const unittest = /^(.+\.py)((?:\\[^\\:]+)+)$/.exec(own);
  if (unittest?.[1] !== undefined && unittest[2] !== undefined) return { path: unittest[1], names: unittest[2].slice(1).split("\\") };
  const [path = "", ...names] = splitId(own);
  return path.endsWith(".py") ? { path, names } : undefined;
}

/**
 * Those of the Test Explorer's ids that stand for the wanted tests of the file at `path`, one for each test that it
 * knows. `known` are ids as VS Code gives them: what controls the test first, its parents, its own id last.
 */
export function idsOf(known: readonly (readonly string[])[], path: string, wanted: readonly (readonly string[])[]): string[] {
  // The Python extension's own before those of others who list the same tests.
  const ordered = [...known].sort((a, b) => Number(b[0] === PYTHON) - Number(a[0] === PYTHON));
  return wanted.flatMap((names) => {
    const found = ordered.find((id) => {
      const place = placeOf(id.at(-1) ?? "");
      return place !== undefined && samePath(place.path, path) && same(place.names, names);
    });
    return found ? [found.join("\0")] : [];
  });
}

/** The names in a node id, whose brackets may hold `::` themselves. */
export function namesOf(nodeid: string): string[] {
  return splitId(nodeid).slice(1);
}

function same(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((name, index) => name === right[index]);
}

function samePath(left: string, right: string): boolean {
  const drive = /^[A-Za-z]:/;
  if (!drive.test(left) || !drive.test(right)) return left === right;
  return left.replaceAll("/", "\\").toLowerCase() === right.replaceAll("/", "\\").toLowerCase();
}

/** Splits at `::` outside the brackets of a parametrization. */
function splitId(id: string): string[] {
  const bracket = id.indexOf("[", id.indexOf("::"));
  const cut = id.includes("::") && bracket >= 0 ? bracket : id.length;
  const parts = id.slice(0, cut).split("::");
  const last = parts.pop() ?? "";
  return [...parts, last + id.slice(cut)];
}

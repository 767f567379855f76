/** Names of tests as the Test Explorer hands them over. Pure: no editor in here. */

/** What a test menu passes to a command: an item, or an item with one of its failure messages. */
export interface TestItemLike {
  id: string;
  uri?: { toString(): string; fsPath: string };
}

/** The test item inside whatever a menu of the Test Explorer passed, or undefined. */
export function testItemOf(argument: unknown): TestItemLike | undefined {
  if (typeof argument !== "object" || argument === null) return undefined;
  if ("test" in argument) return testItemOf(argument.test);
  if (Array.isArray(argument)) return testItemOf(argument[0]);
  return "id" in argument && typeof argument.id === "string" ? (argument as TestItemLike) : undefined;
}

/**
 * The target in an item's id. The Python extension uses `/abs/test_a.py::TestA::test_b[id]`; ids of its unittest
 * runner and of folders have no `::` and give undefined unless they name a Python file.
 */
export function targetOf(item: TestItemLike): { target: string; names: string[] } | undefined {
  const parts = splitId(item.id);
  const path = parts[0] ?? "";
  if (!path.endsWith(".py")) return undefined;
  return { target: item.id, names: parts.slice(1) };
}

/** Splits at `::` outside the brackets of a parametrization, whose ids may hold `::` themselves. */
function splitId(id: string): string[] {
  const bracket = id.indexOf("[", id.indexOf("::"));
  const cut = id.includes("::") && bracket >= 0 ? bracket : id.length;
  const parts = id.slice(0, cut).split("::");
  const last = parts.pop() ?? "";
  return [...parts, last + id.slice(cut)];
}

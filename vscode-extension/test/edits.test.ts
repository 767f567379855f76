import assert from "node:assert/strict";
import { test } from "node:test";
import { applyEdits, changedLines, hunkAt, hunksOf, keptOnly, sameText, urisOf, withTexts, type TextEdit, type WorkspaceEditLike } from "../src/edits";

const CART = "file:///shop/cart.py";
const NEW = "file:///shop/offers.py";

function replaceLines(from: number, to: number, newText: string): TextEdit {
  return { range: { start: { line: from, character: 0 }, end: { line: to, character: 0 } }, newText, annotationId: "p1" };
}

const TWO: WorkspaceEditLike = {
  documentChanges: [
    { textDocument: { uri: CART, version: 3 }, edits: [replaceLines(1, 2, "B\n"), replaceLines(3, 4, "D\nD2\n")] },
    { kind: "create", uri: NEW, annotationId: "p1" },
    { textDocument: { uri: NEW, version: null }, edits: [replaceLines(0, 0, "x = 1\n")] },
  ],
  changeAnnotations: { p1: { label: "Regreen", needsConfirmation: true } },
};

test("edits are applied in positions of the old text, whatever their order", () => {
  assert.equal(applyEdits("a\nb\nc\nd\n", [replaceLines(3, 4, "D\n"), replaceLines(0, 1, "A\n")]), "A\nb\nc\nD\n");
});

test("inserts at one place keep their order", () => {
  assert.equal(applyEdits("a\n", [replaceLines(0, 0, "1\n"), replaceLines(0, 0, "2\n")]), "1\n2\na\n");
});

test("positions count UTF-16 units, and CR LF is one line end", () => {
  const edit: TextEdit = { range: { start: { line: 1, character: 2 }, end: { line: 1, character: 3 } }, newText: "!" };
  assert.equal(applyEdits("x\r\n😋b\r\nc", [edit]), "x\r\n😋!\r\nc");
});

test("a position past the end of a line means its end, past the end of the text the end of the text", () => {
  const far: TextEdit = { range: { start: { line: 0, character: 99 }, end: { line: 0, character: 99 } }, newText: "!" };
  assert.equal(applyEdits("ab\ncd", [far]), "ab!\ncd");
  assert.equal(applyEdits("ab", [replaceLines(1, 1, "\ncd")]), "ab\ncd");
});

test("a file that is made stands or falls as one", () => {
  const hunks = hunksOf(TWO);
  assert.deepEqual(hunks.map(({ uri, label }) => [uri, label]), [
    [CART, "line 2: B"],
    [CART, "line 4: D"],
    [NEW, "new file"],
  ]);
  const without = keptOnly(TWO, (hunk) => hunk.uri !== NEW);
  assert.deepEqual(urisOf(without), [CART]);
  const only = keptOnly(TWO, (hunk) => hunk.uri === NEW);
  assert.deepEqual(only.documentChanges?.map((change) => change.kind ?? "edit"), ["create", "edit"]);
});

test("what is kept carries versions but no annotations", () => {
  const kept = keptOnly(TWO, (hunk) => hunk.line === 3);
  assert.equal(JSON.stringify(kept).includes("annotation"), false);
  const [change] = kept.documentChanges ?? [];
  assert.deepEqual([change?.textDocument, change?.edits?.length], [{ uri: CART, version: 3 }, 1]);
  assert.equal(kept.changeAnnotations, undefined);
});

test("the hunk at the cursor is found on both sides of the diff", () => {
  const all = (): boolean => true;
  const lineOf = (line: number, side: "base" | "proposed", kept = all): number | undefined => hunkAt(TWO, CART, line, side, kept)?.line;
  assert.equal(lineOf(1, "base"), 1);
  assert.equal(lineOf(2, "base"), undefined);
  assert.equal(lineOf(4, "proposed"), 3);
  assert.equal(lineOf(4, "base"), undefined);
  // Left out: the old line stands on the proposed side.
  assert.equal(hunkAt(TWO, CART, 4, "proposed", (hunk) => hunk.line !== 3), undefined);
  assert.equal(hunkAt(TWO, CART, 3, "proposed", (hunk) => hunk.line !== 3)?.line, 3);
});

test("a hunk that only removes lines can still be found on the proposed side", () => {
  const edit: WorkspaceEditLike = { documentChanges: [{ textDocument: { uri: CART, version: 1 }, edits: [replaceLines(1, 3, "")] }] };
  assert.equal(hunkAt(edit, CART, 1, "proposed", () => true)?.line, 1);
  assert.equal(hunksOf(edit)[0]?.label, "lines 2–3: removed");
});

test("texts that differ in line ends only are the same to an editor", () => {
  assert.equal(sameText("a\r\nb\r", "a\nb\n"), true);
  assert.equal(sameText("a\n", "a"), false);
});

test("what a person made of a text becomes one edit of the lines that differ", () => {
  const texts = ["", "a", "a\n", "a\nb\n", "a\nb\nc", "b\nc", "a\r\nb\r\n", "x\na\nb\n", "a\na\n", "a\na\na\n"];
  for (const before of texts) for (const after of texts) assert.equal(applyEdits(before, changedLines(before, after)), after, JSON.stringify([before, after]));
  assert.deepEqual(changedLines("a\nb\nc\n", "a\nB\nc\n"), [{ range: { start: { line: 1, character: 0 }, end: { line: 2, character: 0 } }, newText: "B\n" }]);
});

test("a person's own text replaces all hunks of its file and leaves the other files alone", () => {
  const base = "a\nb\nc\nd\n";
  const mine = withTexts(keptOnly(TWO, () => true), new Map([[CART, "a\nmine\nc\nd\n"]]), new Map([[CART, base]]));
  assert.equal(applyEdits(base, mine.documentChanges?.[0]?.edits ?? []), "a\nmine\nc\nd\n");
  assert.equal(mine.documentChanges?.length, 3);
  const made = withTexts(keptOnly(TWO, () => true), new Map([[NEW, "y = 2\n"]]), new Map());
  assert.equal(applyEdits("", made.documentChanges?.[2]?.edits ?? []), "y = 2\n");
});

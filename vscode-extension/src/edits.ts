/** The changes of a proposal as the server sent them: keep some, preview the result. Pure: no editor in here. */

export interface Position {
  line: number;
  character: number;
}

export interface TextEdit {
  range: { start: Position; end: Position };
  newText: string;
  annotationId?: string;
}

/** One operation of `WorkspaceEdit.documentChanges`, as far as it matters here. */
export interface DocumentChange {
  kind?: string;
  uri?: string;
  annotationId?: string;
  textDocument?: { uri: string; version: number | null };
  edits?: TextEdit[];
}

export interface WorkspaceEditLike {
  documentChanges?: DocumentChange[];
  changes?: Record<string, TextEdit[]>;
  changeAnnotations?: Record<string, { label: string; needsConfirmation?: boolean; description?: string }>;
}

/** A change that a person can keep or leave out: an edit of a document, or the making or removing of a file. */
export interface Hunk {
  /** Position in `documentChanges`, then in `edits` (-1: the whole operation). */
  change: number;
  edit: number;
  uri: string;
  label: string;
  line: number;
}

/** The offset of each line's first character. LSP: only LF, CR LF and CR end a line. */
function lineStarts(text: string): number[] {
  const starts = [0];
  for (const end of text.matchAll(/\r\n|\r|\n/g)) starts.push(end.index + end[0].length);
  return starts;
}

/** `text` with `edits` applied, all of them given in positions of `text` (UTF-16, as in LSP). */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  const starts = lineStarts(text);
  const offset = (position: Position): number => {
    const start = starts[position.line];
    if (start === undefined) return text.length;
    const next = starts[position.line + 1] ?? text.length;
    const end = next - (/(\r\n|\r|\n)$/.exec(text.slice(start, next))?.[0].length ?? 0);
    return Math.min(start + position.character, end);
  };
  const pieces = edits
    .map((edit, order) => ({ from: offset(edit.range.start), to: offset(edit.range.end), text: edit.newText, order }))
    .sort((a, b) => a.from - b.from || a.order - b.order);
  let result = "";
  let at = 0;
  for (const piece of pieces) {
    result += text.slice(at, piece.from) + piece.text;
    at = Math.max(at, piece.to);
  }
  return result + text.slice(at);
}

/** Two texts that differ only in the kind of line ends are the same to an editor, which keeps one kind a document. */
export function sameText(left: string, right: string): boolean {
  return left.replace(/\r\n?/g, "\n") === right.replace(/\r\n?/g, "\n");
}

/** Everything in `edit` that can be kept or left out, in the order in which it is applied. */
export function hunksOf(edit: WorkspaceEditLike): Hunk[] {
  const hunks: Hunk[] = [];
  const made = new Set<string>();
  for (const [change, operation] of (edit.documentChanges ?? []).entries()) {
    if (operation.kind !== undefined) {
      const uri = operation.uri ?? "";
      if (operation.kind === "create") made.add(uri);
      hunks.push({ change, edit: -1, uri, label: operation.kind === "create" ? "new file" : `${operation.kind} file`, line: 0 });
      continue;
    }
    const uri = operation.textDocument?.uri ?? "";
    // The text of a new file stands or falls with the file.
    if (made.has(uri)) continue;
    for (const [index, textEdit] of (operation.edits ?? []).entries()) {
      hunks.push({ change, edit: index, uri, label: labelOf(textEdit), line: textEdit.range.start.line });
    }
  }
  return hunks;
}

function labelOf(edit: TextEdit): string {
  const first = edit.newText.split(/\r\n|\r|\n/).find((line) => line.trim() !== "");
  const { start, end } = edit.range;
  const lines = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  const where = lines > start.line ? `lines ${start.line + 1}–${lines + 1}` : `line ${start.line + 1}`;
  return first === undefined ? `${where}: removed` : `${where}: ${first.trim()}`;
}

/** The kept hunks of `edit`, without annotations: what the editor applies with no further question. */
export function keptOnly(edit: WorkspaceEditLike, kept: (hunk: Hunk) => boolean): WorkspaceEditLike {
  const hunks = hunksOf(edit).filter(kept);
  const changes = (edit.documentChanges ?? []).flatMap((operation, change): DocumentChange[] => {
    if (operation.kind !== undefined) {
      return hunks.some((hunk) => hunk.change === change) ? [withoutAnnotation(operation)] : [];
    }
    const uri = operation.textDocument?.uri ?? "";
    const newFile = (edit.documentChanges ?? []).findIndex((other) => other.kind === "create" && other.uri === uri);
    const all = newFile >= 0 && newFile < change && hunks.some((hunk) => hunk.change === newFile);
    const edits = (operation.edits ?? []).filter((_, index) => all || hunks.some((hunk) => hunk.change === change && hunk.edit === index));
    return edits.length > 0 ? [{ ...operation, edits: edits.map(withoutAnnotation) }] : [];
  });
  return { documentChanges: changes };
}

/** `edit` with the text of some documents replaced by what a person made of it; `bases` are the texts it starts from. */
export function withTexts(edit: WorkspaceEditLike, texts: ReadonlyMap<string, string>, bases: ReadonlyMap<string, string>): WorkspaceEditLike {
  const done = new Set<string>();
  const changes = (edit.documentChanges ?? []).flatMap((operation): DocumentChange[] => {
    const uri = operation.textDocument?.uri;
    const text = uri === undefined ? undefined : texts.get(uri);
    if (uri === undefined || text === undefined) return [operation];
    if (done.has(uri)) return [];
    done.add(uri);
    return [{ ...operation, edits: changedLines(bases.get(uri) ?? "", text) }];
  });
  return { ...edit, documentChanges: changes };
}

/** One edit of the lines between the first and the last that differ; none when nothing does. */
export function changedLines(before: string, after: string): TextEdit[] {
  if (before === after) return [];
  const old = before.match(LINES) ?? [];
  const now = after.match(LINES) ?? [];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const end = old.length - tail;
  const newText = now.slice(head, now.length - tail).join("");
  return [{ range: { start: place(old, head), end: place(old, end) }, newText }];
}

const LINES = /[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+/g;

/** Where line `line` begins; past the last line, the end of a text that does not end in a line end. */
function place(lines: readonly string[], line: number): Position {
  const last = lines[line - 1];
  return last === undefined || /[\r\n]$/.test(last) ? { line, character: 0 } : { line: line - 1, character: last.length };
}

function withoutAnnotation<T extends { annotationId?: string }>(value: T): T {
  const copy = { ...value };
  delete copy.annotationId;
  return copy;
}

/** The edits that touch one document. */
export function editsFor(edit: WorkspaceEditLike, uri: string): TextEdit[] {
  const fromChanges = (edit.documentChanges ?? []).flatMap((change) => (change.textDocument?.uri === uri ? (change.edits ?? []) : []));
  return [...fromChanges, ...(edit.changes?.[uri] ?? [])];
}

/** The documents that `edit` touches, each once, in order. */
export function urisOf(edit: WorkspaceEditLike): string[] {
  const uris = (edit.documentChanges ?? []).map((change) => change.textDocument?.uri ?? change.uri ?? "");
  return [...new Set([...uris, ...Object.keys(edit.changes ?? {})])].filter((uri) => uri !== "");
}

/** Which side of the diff a line number belongs to. */
export type Side = "base" | "proposed";

/**
 * The hunk of `uri` that covers `line` of one side, or undefined. On the proposed side a hunk that was left out
 * covers the lines of the base that stand there instead.
 */
export function hunkAt(edit: WorkspaceEditLike, uri: string, line: number, side: Side, kept: (hunk: Hunk) => boolean): Hunk | undefined {
  const hunks = hunksOf(edit).filter((hunk) => hunk.uri === uri);
  const whole = hunks.find((hunk) => hunk.edit < 0);
  if (whole) return whole;
  let shift = 0;
  for (const hunk of hunks.sort((a, b) => a.line - b.line)) {
    const textEdit = edit.documentChanges?.[hunk.change]?.edits?.[hunk.edit];
    if (!textEdit) continue;
    const removed = textEdit.range.end.line - textEdit.range.start.line;
    const added = (textEdit.newText.match(/\r\n|\r|\n/g) ?? []).length;
    const length = side === "proposed" && kept(hunk) ? added : removed;
    const first = hunk.line + shift;
    if (line >= first && line <= Math.max(first, first + length - 1)) return hunk;
    if (side === "proposed" && kept(hunk)) shift += added - removed;
  }
  return undefined;
}

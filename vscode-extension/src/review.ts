/**
 * Shows a proposal as a diff and waits for the person.
 *
 * The server announces a proposal (`regreen/proposal`) and then sends it as `workspace/applyEdit`. Here the edit waits
 * until the person accepts (all of it, some hunks, or what they made of it) or rejects; then it is applied without any
 * further question, files that held no unsaved changes are saved, `regreen/decision` goes out, and only then the request is answered. An edit
 * is applied only on the very text it was shown for.
 */

import * as vscode from "vscode";
import { applyEdits, editsFor, hunkAt, hunksOf, keptOnly, sameText, urisOf, withTexts, type Hunk, type Side, type WorkspaceEditLike } from "./edits";
import { ProposalFiles, SCHEME } from "./proposalFiles";
import type { Decision, DecisionKind, Proposal, ProposalNotice } from "./protocol";
import { cautions, nameProposal, showVerdict } from "./render";
import type { Status } from "./status";

const TYPING_MS = 2000;

export interface ApplyParams {
  label?: string;
  edit: WorkspaceEditLike;
}

export interface ApplyAnswer {
  applied: boolean;
  failureReason?: string;
}

export type Apply = (params: ApplyParams) => Promise<ApplyAnswer>;

type Choice = { kind: "accept" } | { kind: "reject"; reason: string } | { kind: "ended" };

/** A proposal in front of the person. */
export class OpenProposal {
  private static opened = 1;
  readonly hunks: Hunk[];
  readonly leftOut = new Set<Hunk>();
  readonly choice: Promise<Choice>;
  choose: (choice: Choice) => void = () => undefined;

  constructor(
    readonly run: string,
    readonly proposal: Proposal,
    readonly edit: WorkspaceEditLike,
    /** What each document held when the proposal was opened; absent for a file that it makes. */
    readonly bases: ReadonlyMap<string, string>,
  ) {
    this.hunks = hunksOf(edit);
    this.choice = new Promise((resolve) => {
      this.choose = resolve;
    });
  }

  readonly kept = (hunk: Hunk): boolean => !this.leftOut.has(this.own(hunk) ?? hunk);

  own(hunk: Hunk): Hunk | undefined {
    return this.hunks.find((other) => other.change === hunk.change && other.edit === hunk.edit);
  }

  /** The text of a file with the kept hunks applied. */
  textOf(uri: string): string {
    return applyEdits(this.bases.get(uri) ?? "", editsFor(keptOnly(this.edit, this.kept), uri));
  }

  /** The folder of its documents in the diff, which also keeps two proposals of one name apart. */
  readonly folder = `/${OpenProposal.opened++}/`;

  uriOf(side: Side, uri: string): vscode.Uri {
    return vscode.Uri.from({ scheme: SCHEME, path: `${this.folder}${side}/${this.pathOf(uri)}` });
  }

  pathOf(uri: string): string {
    return this.proposal.files.find((file) => file.uri === uri)?.path ?? vscode.workspace.asRelativePath(vscode.Uri.parse(uri));
  }
}

export class Review implements vscode.Disposable {
  private readonly announced = new Map<string, ProposalNotice>();
  private readonly acceptAllOf = new Set<string>();
  private readonly files = new ProposalFiles();
  private readonly opened = new vscode.EventEmitter<OpenProposal | undefined>();
  private readonly disposables: vscode.Disposable[];
  private queue: Promise<unknown> = Promise.resolve();
  private closed: Promise<unknown> = Promise.resolve();
  private typedAt = 0;
  current: OpenProposal | undefined;

  /** Fires when a proposal opens, when its kept hunks change, and with undefined when it closes. */
  readonly onDidChangeProposal = this.opened.event;

  constructor(
    private readonly status: Status,
    private readonly log: vscode.LogOutputChannel,
    private readonly sendDecision: (decision: Decision) => Promise<void>,
  ) {
    this.disposables = [
      this.files.register(),
      vscode.workspace.onDidChangeTextDocument((event) => {
        if (event.document === vscode.window.activeTextEditor?.document && event.contentChanges.length > 0) this.typedAt = Date.now();
      }),
    ];
  }

  announce(notice: ProposalNotice): void {
    this.announced.set(notice.proposal.id, notice);
  }

  /** The middleware of `workspace/applyEdit`. */
  handleApplyEdit(params: ApplyParams, apply: Apply): Promise<ApplyAnswer> {
    const answer = this.queue.then(() => this.decideAndApply(params, apply));
    this.queue = answer.catch(() => undefined);
    return answer;
  }

  accept(): void {
    this.current?.choose({ kind: "accept" });
  }

  acceptAll(): void {
    if (this.current) this.acceptAllOf.add(this.current.run);
    this.accept();
  }

  reject(reason = ""): void {
    this.current?.choose({ kind: "reject", reason });
  }

  /** Closes what waits for the person when its run, or the server, is gone; done when it is closed. */
  async runEnded(run?: string): Promise<void> {
    if (this.current && (run === undefined || this.current.run === run)) this.current.choose({ kind: "ended" });
    if (run === undefined) this.acceptAllOf.clear();
    else this.acceptAllOf.delete(run);
    for (const [id, notice] of this.announced) if (run === undefined || notice.run === run) this.announced.delete(id);
    await this.closed;
  }

  setKept(hunks: readonly Hunk[], kept: boolean): void {
    const open = this.current;
    if (!open) return;
    for (const hunk of hunks) {
      if (this.madeBy(open, hunk.uri) !== undefined) {
        void vscode.window.setStatusBarMessage("Regreen: you changed this file of the proposal; undo that to choose changes.", 6000);
        continue;
      }
      if (kept) open.leftOut.delete(hunk);
      else open.leftOut.add(hunk);
      this.files.set(open.uriOf("proposed", hunk.uri), open.textOf(hunk.uri));
    }
    this.opened.fire(open);
  }

  toggleAtCursor(): void {
    const editor = vscode.window.activeTextEditor;
    const open = this.current;
    if (!editor || !open) return;
    const shown = editor.document.uri;
    const uri = urisOf(open.edit).find((one) => normal(one) === shown.toString() || open.uriOf("proposed", one).toString() === shown.toString());
    const side = shown.scheme === SCHEME ? "proposed" : "base";
    const hunk = uri === undefined ? undefined : hunkAt(open.edit, uri, editor.selection.active.line, side, open.kept);
    const own = hunk && open.own(hunk);
    if (own) this.setKept([own], open.leftOut.has(own));
    else void vscode.window.setStatusBarMessage("Regreen: no proposed change at the cursor.", 4000);
  }

  /** Opens the diff of one file of the proposal that waits, the first one by default. */
  async show(uri?: string, line?: number, preserveFocus = false): Promise<void> {
    const open = this.current;
    const target = uri ?? (open && urisOf(open.edit)[0]);
    if (!open || target === undefined) return;
    const left = open.bases.has(target) ? vscode.Uri.parse(target, true) : open.uriOf("base", target);
    const title = `${open.pathOf(target)}: Regreen proposal (${nameProposal(open.proposal)})`;
    const first = line ?? open.hunks.find((hunk) => hunk.uri === target)?.line ?? 0;
    const options: vscode.TextDocumentShowOptions = { preview: false, preserveFocus, selection: new vscode.Range(first, 0, first, 0) };
    await vscode.commands.executeCommand("vscode.diff", left, open.uriOf("proposed", target), title, options);
  }

  async showReason(): Promise<void> {
    const open = this.current;
    if (!open) return;
    const { why, confidence, verdict } = open.proposal;
    const detail = [`Trial: ${verdict ? showVerdict(verdict) : "not tried"}.`, `Confidence: ${confidence}.`, cautions(open.proposal)].filter(Boolean).join("\n");
    this.answerFor(open, await vscode.window.showInformationMessage(why || "The model gave no reason.", { modal: true, detail }, "Accept", "Reject"));
  }

  dispose(): void {
    void this.runEnded();
    for (const one of [...this.disposables, this.opened]) one.dispose();
  }

  private async decideAndApply(params: ApplyParams, apply: Apply): Promise<ApplyAnswer> {
    const annotations = Object.entries(params.edit.changeAnnotations ?? {});
    const notice = annotations.map(([id]) => this.announced.get(id)).find((one) => one !== undefined);
    if (!notice) return applyAndSave(params, apply, this.log);
    this.announced.delete(notice.proposal.id);
    const bases = await textsNow(urisOf(params.edit));
    const open = new OpenProposal(notice.run, notice.proposal, params.edit, bases);
    if (!isBasedOn(open)) return this.stale(open);
    // "Accept all to come" does not cover files that are asked about in every mode.
    const covered = this.acceptAllOf.has(notice.run) && (notice.proposal.asks ?? []).length === 0;
    const ask = !covered && annotations.some(([, annotation]) => annotation.needsConfirmation === true);
    const asked = ask ? this.ask(open) : Promise.resolve<Choice>({ kind: "accept" });
    this.closed = asked.catch(() => undefined);
    const choice = await asked;
    const made = new Map(urisOf(open.edit).map((uri) => [uri, ask ? this.madeBy(open, uri) : undefined] as const).filter(isPresent));
    if (ask) await this.files.close(open.folder);
    if (choice.kind === "accept" && (made.size > 0 || open.hunks.some(open.kept))) return this.applyKept(open, made, params, apply);
    const reason = choice.kind === "accept" ? "no change was kept" : choice.kind === "reject" ? choice.reason : "the run was ended";
    await this.tell(open, "reject", reason);
    return { applied: false, failureReason: reason || "rejected" };
  }

  private async ask(open: OpenProposal): Promise<Choice> {
    for (const uri of urisOf(open.edit)) {
      this.files.set(open.uriOf("proposed", uri), open.textOf(uri));
      if (!open.bases.has(uri)) this.files.set(open.uriOf("base", uri), "", true);
    }
    this.current = open;
    await vscode.commands.executeCommand("setContext", "regreen.proposalOpen", true);
    this.status.proposalWaits(urisOf(open.edit).map((uri) => open.pathOf(uri)).join(", "));
    this.opened.fire(open);
    try {
      await this.show(undefined, undefined, Date.now() - this.typedAt < TYPING_MS);
      void this.notify(open);
      return await open.choice;
    } finally {
      this.status.proposalDone();
      // Its notification has buttons that would do nothing now; other ones stay under the bell.
      await vscode.commands.executeCommand("notifications.hideToasts");
      this.current = undefined;
      this.opened.fire(undefined);
      await vscode.commands.executeCommand("setContext", "regreen.proposalOpen", false);
    }
  }

  /** The same choice as a notification, for people who do not look at the title bar. */
  private async notify(open: OpenProposal): Promise<void> {
    const files = urisOf(open.edit).map((uri) => open.pathOf(uri)).join(", ");
    const verdict = open.proposal.verdict ? ` Trial: ${showVerdict(open.proposal.verdict)}.` : "";
    const caution = cautions(open.proposal);
    const text = `Regreen proposes a change in ${files}: ${open.proposal.why || "no reason given"}${verdict}${caution ? ` ${caution}` : ""}`;
    const show = open.proposal.confidence === "low" ? vscode.window.showWarningMessage : vscode.window.showInformationMessage;
    this.answerFor(open, await show(text, "Accept", "Reject", "Show Reason"));
  }

  private answerFor(open: OpenProposal, pressed: string | undefined): void {
    if (pressed === undefined) return;
    if (this.current !== open) {
      void vscode.window.setStatusBarMessage("Regreen: that proposal is decided already.", 5000);
      return;
    }
    if (pressed === "Accept") this.accept();
    else if (pressed === "Reject") this.reject();
    else void this.showReason();
  }

  /** The text that the person made of a file of the proposal, or undefined when they left it as it is. */
  private madeBy(open: OpenProposal, uri: string): string | undefined {
    const text = this.files.textOf(open.uriOf("proposed", uri));
    return sameText(text, open.textOf(uri)) ? undefined : text;
  }

  private async applyKept(open: OpenProposal, made: ReadonlyMap<string, string>, params: ApplyParams, apply: Apply): Promise<ApplyAnswer> {
    const now = await textsNow([...open.bases.keys()]);
    if ([...open.bases].some(([uri, base]) => now.get(uri) !== base)) return this.stale(open);
    const all = made.size === 0 && open.hunks.every(open.kept);
    const kept = made.size > 0 ? (hunk: Hunk): boolean => open.kept(hunk) || made.has(hunk.uri) : open.kept;
    const edit = withTexts(keptOnly(open.edit, kept), made, open.bases);
    const answer = await applyAndSave({ ...params, edit }, apply, this.log);
    if (!answer.applied) return this.stale(open);
    await this.tell(open, all ? "accept" : "partly", "");
    return answer;
  }

  private async stale(open: OpenProposal): Promise<ApplyAnswer> {
    const files = urisOf(open.edit).map((uri) => open.pathOf(uri)).join(", ");
    void vscode.window.showWarningMessage(`${files} changed while the proposal was on its way, so nothing was written. Regreen goes on with the text as it is now.`);
    const reason = "the file changed in the meantime";
    await this.tell(open, "reject", reason);
    return { applied: false, failureReason: reason };
  }

  private async tell(open: OpenProposal, decision: DecisionKind, reason: string): Promise<void> {
    const files = decision === "reject" ? {} : Object.fromEntries(await textsNow(urisOf(open.edit)));
    this.log.debug(`decision on ${open.proposal.id}: ${decision}`);
    await this.sendDecision({ proposal: open.proposal.id, decision, reason, files });
  }
}

/** A URI as the editor itself writes it: servers escape `:` and capitals differently. */
function normal(uri: string): string {
  return vscode.Uri.parse(uri, true).toString();
}

function isPresent(entry: readonly [string, string | undefined]): entry is readonly [string, string] {
  return entry[1] !== undefined;
}

/** Whether the proposed text is what the edits make of the text that the editor holds. */
function isBasedOn(open: OpenProposal): boolean {
  return open.proposal.files.every((file) => file.text === null || !open.bases.has(file.uri) || sameText(open.textOf(file.uri), file.text));
}

/** What each document holds now; files that do not exist are left out, also while an editor still shows what they held. */
async function textsNow(uris: readonly string[]): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const uri of uris) {
    try {
      const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri, true));
      if (!document.isDirty) await vscode.workspace.fs.stat(document.uri);
      texts.set(uri, document.getText());
    } catch {
      // Not there: a file that the proposal makes, or one that an accepted edit removed.
    }
  }
  return texts;
}

/** Applies an edit and saves each file that held no unsaved changes before; what the person had not saved stays so. */
async function applyAndSave(params: ApplyParams, apply: Apply, log: vscode.LogOutputChannel): Promise<ApplyAnswer> {
  const touched = new Set(urisOf(params.edit).map(normal));
  const documents = (): vscode.TextDocument[] => vscode.workspace.textDocuments.filter((one) => touched.has(one.uri.toString()));
  const unsaved = new Set(documents().filter((one) => one.isDirty).map((one) => one.uri.toString()));
  const answer = await apply(params);
  if (!answer.applied) return answer;
  for (const document of documents()) {
    const uri = document.uri.toString();
    if (!document.isDirty || unsaved.has(uri)) continue;
    if (await document.save()) continue;
    log.warn(`${uri} could not be saved`);
    const path = vscode.workspace.asRelativePath(document.uri);
    void vscode.window.showWarningMessage(`${path} holds the accepted change but could not be saved: make the file writable, then save it.`);
  }
  return answer;
}

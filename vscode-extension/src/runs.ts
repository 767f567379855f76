/** The runs of this window: what was asked for, which one is going, and what to offer when one ends. */

import { performance } from "node:perf_hooks";
import * as vscode from "vscode";
import type { Explorer } from "./explorer";
import { ASK, EXTEND, FIX, UNDO, type Asked, type Budget, type FixAnswer, type Outcome, type QueueNotice, type RunEvent } from "./protocol";
import { cautions, outcomeWord, permissionNamed, RunLog, sentAway, shorten, type Line } from "./render";
import type { Review } from "./review";
import type { ServerOptions } from "./settings";
import type { Status } from "./status";
import { namesOf } from "./targets";

const UNDOABLE = "Undo";
const SHOW = "Show Output";
const PAGE = "Show Run";
const WRITE_TEST = "Write a Test…";
const UNLOCK = "Let It Change the Test…";
const MORE = "Give It More Steps…";
const GO_ON = "Go On";
const TERMINAL = "Put Command into Terminal";
const KEY = "Set API Key…";
const GOING = "going";
const DOCTOR = "Check What Is Missing";
const PERMISSION = "Open the Setting";

/** A run that is going, as it is kept for the case that the window goes away under it. */
interface Going {
  asked: Asked;
  record: string;
  name: string;
}

export class Runs {
  private readonly lines = new RunLog();
  private readonly asked = new Map<string, Asked>();
  private readonly told = new Set<string>();
  /** Runs that were asked for and have not ended, those that wait too. */
  private readonly open = new Set<string>();
  private afterwards: (() => void) | undefined;
  private clickedAt: number | undefined;
  /** The run that is going, and the last one that ended. */
  current: string | undefined;
  last: string | undefined;
  /** The record of the last run that has one, and its name for people. */
  page: { trace: string; name: string } | undefined;
  private maxSteps = 0;
  /** The files that the last run with accepted edits wrote. */
  private wrote: { run: string; paths: string[] } | undefined;

  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly status: Status,
    private readonly review: Review,
    private readonly explorer: Explorer,
    private readonly memory: vscode.Memento,
    private readonly sendSettings: (changed: Partial<ServerOptions>) => Promise<void>,
  ) {}

  /** The person clicked: say so before anything else happens. */
  clicked(): void {
    this.clickedAt = performance.now();
    if (this.current === undefined) this.status.runStarted();
  }

  accepted(answer: FixAnswer | null | undefined, asked: Asked): void {
    if (answer?.run) {
      this.asked.set(answer.run, asked);
      if (answer.run !== this.last) this.open.add(answer.run);
    } else if (this.current === undefined) this.status.runEnded();
  }

  refused(): void {
    if (this.current === undefined) this.status.runEnded();
  }

  step(event: RunEvent): void {
    this.seen(event.run);
    this.write(this.lines.event(event));
    if (event.event === "step") this.status.stepStarted(event.n);
    else if (event.event === "progress") this.status.progress(shorten(event.text, 60));
    else if (event.event === "question") this.status.progress("waiting for your answer");
    else if (event.event === "note") {
      this.noted(event.text);
      if (event.allowed !== undefined) this.status.sealSeen(event.seal ?? "", event.allowed);
    }
    else if (event.event === "evidence") this.status.progress("asking the model");
    else if (event.event === "started") {
      this.status.progress(this.asked.get(event.run)?.command === ASK ? "looking at the project" : "running the test");
      this.status.sealSeen(event.seal, event.allowed ?? "");
      this.keep(event.run, event.record);
    }
  }

  /** Says that the window went away under a run, and offers to go on; for the start of a window. */
  async recall(): Promise<void> {
    const going = this.memory.get<Going>(GOING);
    if (going === undefined) return;
    await this.memory.update(GOING, undefined);
    const text = `Regreen was working on ${going.name} when the window closed or was reloaded. Accepted edits are in your files.`;
    if ((await vscode.window.showInformationMessage(text, GO_ON, "Dismiss")) !== GO_ON) return;
    await this.resume(going.asked, going.record);
  }

  private keep(run: string, record: string | undefined): void {
    const asked = this.asked.get(run);
    if (!asked || !record) return;
    const name = asked.command === ASK ? `“${shorten(asked.args.text, 60)}”` : asked.args.target.split("::").at(-1) ?? asked.args.target;
    const going: Going = { asked, record, name };
    void this.memory.update(GOING, going);
  }

  private async resume(asked: Asked, record: string): Promise<void> {
    await vscode.commands.executeCommand(asked.command, { ...asked.args, resume: record });
  }

  private noted(text: string): void {
    this.status.progress(shorten(text, 60));
    const away = sentAway(text);
    if (away === undefined) return;
    this.status.sentAway(away);
    if (this.told.has(away)) return;
    this.told.add(away);
    void vscode.window.showWarningMessage(`Regreen: ${away}`);
  }

  budget(budget: Budget): void {
    this.seen(budget.run);
    this.maxSteps = budget.max_steps;
    this.status.budgetSeen(budget);
  }

  queue(notice: QueueNotice): void {
    if (notice.position === 0) return;
    this.write(this.lines.queue(notice));
    void vscode.window.setStatusBarMessage(`Regreen: waiting for the run before it (number ${notice.position})`, 6000);
  }

  outcome(outcome: Outcome): void {
    this.write(this.lines.outcome(outcome));
    this.open.delete(outcome.run);
    this.ended(outcome.run);
    this.last = outcome.run;
    const paths = [...new Set((outcome.edits ?? []).map(({ path }) => path))];
    if (paths.length > 0) this.wrote = { run: outcome.run, paths };
    void this.memory.update(GOING, undefined);
    if (outcome.trace) this.page = { trace: outcome.trace, name: this.nameOf(outcome) };
    // A proposal that still waits closes first, and with it its notification.
    void this.review.runEnded(outcome.run).then(() => {
      void this.turnGreen(outcome);
      return this.offer(outcome);
    });
  }

  /** Has the tests that pass now run again where the person sees their icons. */
  private async turnGreen(outcome: Outcome): Promise<void> {
    const asked = this.asked.get(outcome.run);
    if (asked?.command !== FIX) return;
    const passes = (word: string): boolean => word === "fixed" || word === "already_passing";
    const each = Object.entries(outcome.tests ?? {}).filter(([, word]) => passes(word)).map(([nodeid]) => namesOf(nodeid));
    const own = outcome.tests === undefined && passes(outcome.outcome) ? [asked.args.names ?? namesOf(asked.args.target)] : [];
    await this.explorer.runAgain(vscode.Uri.parse(asked.args.uri, true), [...each, ...own]);
  }

  private nameOf(outcome: Outcome): string {
    if (this.asked.get(outcome.run)?.command === ASK) return `“${shorten(outcome.target, 60)}”`;
    return outcome.target.split("::").at(-1) ?? outcome.target;
  }

  /** The server is gone: so are its runs. */
  stopped(): void {
    void this.review.runEnded();
    this.open.clear();
    this.afterwards = undefined;
    if (this.current !== undefined) this.ended(this.current);
    this.asked.clear();
  }

  /** Does something that would end runs once none is left; what was to be done before that is dropped. */
  whenIdle(action: () => void): void {
    if (this.open.size === 0 && this.current === undefined) {
      action();
      return;
    }
    this.log.info("The server is started anew when the runs have ended.");
    this.afterwards = action;
  }

  /** Gives the run that is going more steps. */
  async extend(): Promise<void> {
    const run = this.current;
    const steps = run === undefined ? undefined : await askForSteps(6);
    if (run !== undefined && steps !== undefined) await vscode.commands.executeCommand(EXTEND, { run, steps });
  }

  async undo(run = this.last): Promise<void> {
    const uri = vscode.window.activeTextEditor?.document.uri.toString();
    await vscode.commands.executeCommand(UNDO, run === undefined ? { uri } : { run });
  }

  /** Takes back only some files of the last run that wrote any. */
  async undoFiles(): Promise<void> {
    if (this.wrote === undefined) {
      void vscode.window.showInformationMessage("No run of this window has changed a file. In a terminal, `regreen undo RUN PATH` takes back files of an earlier run.");
      return;
    }
    const { run, paths } = this.wrote;
    const title = "Regreen: which files should be as they were before the run?";
    const picked = await vscode.window.showQuickPick(paths, { title, canPickMany: true, placeHolder: "Files that you changed since are left alone" });
    if (picked && picked.length > 0) await vscode.commands.executeCommand(UNDO, { run, paths: picked });
  }

  private seen(run: string): void {
    if (this.current === run) return;
    this.current = run;
    this.status.runStarted();
    this.status.sentAway("");
    void vscode.commands.executeCommand("setContext", "regreen.running", true);
    if (this.clickedAt === undefined) return;
    this.log.debug(`from click to first progress: ${Math.round(performance.now() - this.clickedAt)} ms`);
    this.clickedAt = undefined;
  }

  private ended(run: string): void {
    // A run that could not even start ends without ever having been seen.
    if (this.current === undefined || this.current === run) {
      this.current = undefined;
      this.status.runEnded();
      void vscode.commands.executeCommand("setContext", "regreen.running", false);
    }
    if (this.open.size > 0 || this.current !== undefined) return;
    const action = this.afterwards;
    this.afterwards = undefined;
    action?.();
  }

  private write(lines: Line[]): void {
    for (const { level, text } of lines) this.log[level](text);
  }

  private async offer(outcome: Outcome): Promise<void> {
    const asked = this.asked.get(outcome.run);
    const unlocked = asked?.args.unlockTests === true;
    const common = [...(outcome.trace ? [PAGE] : [SHOW]), ...((outcome.edits ?? []).length > 0 ? [UNDOABLE] : [])];
    const text = this.tell(outcome);
    let pressed: string | undefined;
    switch (outcome.outcome) {
      case "fixed":
      case "already_passing":
      case "cancelled":
      case "rejected":
        pressed = await vscode.window.showInformationMessage(text, ...common);
        break;
      case "budget":
      case "stuck":
        pressed = await vscode.window.showWarningMessage(text, MORE, ...(permissionNamed(outcome.summary) ? [PERMISSION] : []), ...common);
        break;
      case "setup_problem":
      case "error":
        pressed = await vscode.window.showErrorMessage(text, ...remedies(outcome), DOCTOR, ...common);
        break;
      case "not_verified":
        pressed = await vscode.window.showWarningMessage(text, ...(asked && outcome.write_test ? [WRITE_TEST] : []), ...common);
        break;
      case "test_looks_wrong":
        pressed = await vscode.window.showWarningMessage(text, ...(asked && !unlocked ? [UNLOCK] : []), ...common);
        break;
      default:
        pressed = await vscode.window.showWarningMessage(text, ...common);
    }
    await this.pressed(pressed, outcome, asked);
  }

  /** The outcome as one text for a notification. What was not verified is told with what there is as evidence. */
  private tell(outcome: Outcome): string {
    const evidence = outcome.outcome === "not_verified";
    const lines = (outcome.summary ?? "").split("\n").filter((line) => !outcome.write_test || !line.includes(outcome.write_test.command));
    const said = evidence ? [outcome.explanation, ...lines].filter(Boolean).join("\n") : outcome.explanation;
    const why = shorten(said ?? "", evidence ? 600 : 200);
    const low = outcome.outcome === "fixed" ? cautions({ confidence: outcome.confidence }) : "";
    return [`${outcomeWord(outcome.outcome)}: ${this.nameOf(outcome)}`, why, low].filter(Boolean).join(". ").replaceAll("..", ".");
  }

  private async pressed(button: string | undefined, outcome: Outcome, asked: Asked | undefined): Promise<void> {
    if (button === SHOW) this.log.show(true);
    else if (button === PAGE) await vscode.commands.executeCommand("regreen.showRun", { trace: outcome.trace, name: this.nameOf(outcome) });
    else if (button === UNDOABLE) await this.undo(outcome.run);
    else if (button === DOCTOR) await vscode.commands.executeCommand("regreen.doctor");
    else if (button === KEY) await vscode.commands.executeCommand("regreen.setApiKey");
    else if (button === PERMISSION) await vscode.commands.executeCommand("workbench.action.openSettings", permissionNamed(outcome.explanation) ?? permissionNamed(outcome.summary));
    else if (button === TERMINAL && outcome.command) this.inTerminal(outcome.command, asked);
    else if (button === MORE && asked) await this.again(asked, outcome);
    else if (button === UNLOCK && asked) await this.unlocked(asked);
    else if (button === WRITE_TEST && asked && outcome.write_test) await this.writeTest(asked, outcome.write_test);
  }

  /** Starts the same once more, with more steps, and from the best state where there is one. */
  private async again(asked: Asked, outcome: Outcome): Promise<void> {
    const steps = await askForSteps(Math.max(2 * this.maxSteps, 24));
    if (steps === undefined) return;
    // A run keeps the settings that it was started with, and messages arrive in order.
    await this.sendSettings({ maxSteps: steps });
    if ((outcome.partial ?? []).length > 0 && outcome.record) await this.resume(asked, outcome.record);
    else await vscode.commands.executeCommand(asked.command, asked.args);
    await this.sendSettings({});
  }

  /** The person reads the command, and runs it or not: nothing is pressed for them. */
  private inTerminal(command: string, asked: Asked | undefined): void {
    const folder = asked && vscode.workspace.getWorkspaceFolder(vscode.Uri.parse(asked.args.uri, true));
    const terminal = vscode.window.createTerminal({ name: "Regreen", ...(folder ? { cwd: folder.uri } : {}) });
    terminal.show();
    terminal.sendText(command.replaceAll(/[\r\n]+/g, " "), false);
  }

  private async unlocked(asked: Asked): Promise<void> {
    if (!(await mayChangeTests("Let the run change the test?", "Change the Test"))) return;
    await vscode.commands.executeCommand(asked.command, { ...asked.args, unlockTests: true });
  }

  /** A test for what was changed: it fails without the change, and so shows that the change does what it should. */
  private async writeTest(asked: Asked, offered: { task: string; resume: string }): Promise<void> {
    if (!(await mayChangeTests("Have a test written?", "Write a Test"))) return;
    const { task: text, resume } = offered;
    await vscode.commands.executeCommand(ASK, { text, uri: asked.args.uri, unlockTests: true, ...(resume ? { resume } : {}) });
  }
}

/** The buttons that mend what kept a run from its work: a key, a permission for the tests, a command. */
function remedies(outcome: Outcome): string[] {
  const key = /_API_KEY\b/.test(outcome.explanation ?? "") ? [KEY] : [];
  const permission = permissionNamed(outcome.explanation) ? [PERMISSION] : [];
  return [...key, ...permission, ...(outcome.command ? [TERMINAL] : [])];
}

/** Tests are locked; only the person, and only for one run, can allow changes to them. */
async function mayChangeTests(question: string, yes: string): Promise<boolean> {
  const detail = "For this one run the tests are unlocked: it may propose changes to test files. Each change is shown to you before it is written.";
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, yes)) === yes;
}

async function askForSteps(proposed: number): Promise<number | undefined> {
  const answer = await vscode.window.showInputBox({
    title: "Regreen: how many steps?",
    value: String(proposed),
    validateInput: (value) => (/^[1-9]\d{0,2}$/.test(value.trim()) ? undefined : "A number from 1 to 999."),
  });
  return answer === undefined ? undefined : Number(answer);
}

/** The runs of this window: what was asked for, which one is going, and what to offer when one ends. */

import { performance } from "node:perf_hooks";
import * as vscode from "vscode";
import { EXTEND, FIX, UNDO, type Budget, type FixAnswer, type FixArguments, type Outcome, type QueueNotice, type RunEvent } from "./protocol";
import { outcomeWord, RunLog, shorten, type Line } from "./render";
import type { Review } from "./review";
import type { ServerOptions } from "./settings";
import type { Status } from "./status";

const UNDOABLE = "Undo";
const SHOW = "Show Output";
const MORE = "Give It More Steps…";
const DOCTOR = "Check What Is Missing";

export class Runs {
  private readonly lines = new RunLog();
  private readonly asked = new Map<string, FixArguments>();
  private clickedAt: number | undefined;
  /** The run that is going, and the last one that ended. */
  current: string | undefined;
  last: string | undefined;
  private maxSteps = 0;

  constructor(
    private readonly log: vscode.LogOutputChannel,
    private readonly status: Status,
    private readonly review: Review,
    private readonly sendSettings: (changed: Partial<ServerOptions>) => Promise<void>,
  ) {}

  /** The person clicked: say so before anything else happens. */
  clicked(): void {
    this.clickedAt = performance.now();
    if (this.current === undefined) this.status.runStarted();
  }

  accepted(answer: FixAnswer | null | undefined, asked: FixArguments): void {
    if (answer?.run) this.asked.set(answer.run, asked);
    else if (this.current === undefined) this.status.runEnded();
  }

  refused(): void {
    if (this.current === undefined) this.status.runEnded();
  }

  step(event: RunEvent): void {
    this.seen(event.run);
    this.write(this.lines.event(event));
    if (event.event === "step") this.status.stepStarted(event.n);
    else if (event.event === "progress" || event.event === "note") this.status.progress(shorten(event.text, 60));
    else if (event.event === "evidence") this.status.progress("asking the model");
    else if (event.event === "started") {
      this.status.progress("running the test");
      this.status.sealSeen(event.seal, event.allowed ?? "");
    }
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
    this.ended(outcome.run);
    this.last = outcome.run;
    // A proposal that still waits closes first, and with it its notification.
    void this.review.runEnded(outcome.run).then(() => this.offer(outcome));
  }

  /** The server is gone: so are its runs. */
  stopped(): void {
    void this.review.runEnded();
    if (this.current !== undefined) this.ended(this.current);
    this.asked.clear();
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

  private seen(run: string): void {
    if (this.current === run) return;
    this.current = run;
    this.status.runStarted();
    void vscode.commands.executeCommand("setContext", "regreen.running", true);
    if (this.clickedAt === undefined) return;
    this.log.debug(`from click to first progress: ${Math.round(performance.now() - this.clickedAt)} ms`);
    this.clickedAt = undefined;
  }

  private ended(run: string): void {
    // A run that could not even start ends without ever having been seen.
    if (this.current !== undefined && this.current !== run) return;
    this.current = undefined;
    this.status.runEnded();
    void vscode.commands.executeCommand("setContext", "regreen.running", false);
  }

  private write(lines: Line[]): void {
    for (const { level, text } of lines) this.log[level](text);
  }

  private async offer(outcome: Outcome): Promise<void> {
    const name = outcome.target.split("::").at(-1) ?? outcome.target;
    const why = shorten(outcome.explanation ?? "", 200);
    const text = `${outcomeWord(outcome.outcome)}: ${name}${why ? `. ${why}` : ""}`;
    const undo = (outcome.edits ?? []).length > 0 ? [UNDOABLE] : [];
    let pressed: string | undefined;
    switch (outcome.outcome) {
      case "fixed":
      case "already_passing":
        pressed = await vscode.window.showInformationMessage(text, SHOW, ...undo);
        break;
      case "budget":
      case "stuck":
        pressed = await vscode.window.showWarningMessage(text, MORE, SHOW, ...undo);
        break;
      case "cancelled":
      case "rejected":
        pressed = await vscode.window.showInformationMessage(text, SHOW, ...undo);
        break;
      case "setup_problem":
      case "error":
        pressed = await vscode.window.showErrorMessage(text, DOCTOR, SHOW, ...undo);
        break;
      default:
        pressed = await vscode.window.showWarningMessage(text, SHOW, ...undo);
    }
    if (pressed === SHOW) this.log.show(true);
    else if (pressed === UNDOABLE) await this.undo(outcome.run);
    else if (pressed === DOCTOR) await vscode.commands.executeCommand("regreen.doctor");
    else if (pressed === MORE) await this.again(outcome.run);
  }

  /** Starts the same target once more, with more steps. */
  private async again(run: string): Promise<void> {
    const asked = this.asked.get(run);
    if (!asked) return;
    const steps = await askForSteps(Math.max(2 * this.maxSteps, 24));
    if (steps === undefined) return;
    // A run keeps the settings that it was started with, and messages arrive in order.
    await this.sendSettings({ maxSteps: steps });
    await vscode.commands.executeCommand(FIX, asked);
    await this.sendSettings({});
  }
}

async function askForSteps(proposed: number): Promise<number | undefined> {
  const answer = await vscode.window.showInputBox({
    title: "Regreen: how many steps?",
    value: String(proposed),
    validateInput: (value) => (/^[1-9]\d{0,2}$/.test(value.trim()) ? undefined : "A number from 1 to 999."),
  });
  return answer === undefined ? undefined : Number(answer);
}

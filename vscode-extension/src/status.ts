/** What stands in the status bar: the run and its budget, a proposal that waits, the approval mode, the server's state. */

import * as vscode from "vscode";
import type { Budget } from "./protocol";
import { showDollars, showSeal, showSeconds, showTokens } from "./render";
import type { Approval } from "./settings";

const APPROVAL_WORDS: Record<Approval, string> = { everyEdit: "every edit", whenGreen: "when green", never: "never ask" };

export class Status implements vscode.Disposable {
  private readonly run = vscode.window.createStatusBarItem("regreen.run", vscode.StatusBarAlignment.Left, 11);
  private readonly proposal = vscode.window.createStatusBarItem("regreen.proposal", vscode.StatusBarAlignment.Left, 10);
  private readonly approval = vscode.window.createStatusBarItem("regreen.approval", vscode.StatusBarAlignment.Left, 9);
  private readonly server = vscode.languages.createLanguageStatusItem("regreen.server", { language: "python" });
  private readonly clock: NodeJS.Timeout;
  private budget: Budget | undefined;
  private budgetAt = 0;
  private step = 0;
  private waiting = false;
  private mode: Approval = "everyEdit";
  private seal = "";
  private allowed = "";
  private away = "";

  constructor() {
    this.run.name = "Regreen run";
    this.run.command = "regreen.showOutput";
    this.proposal.name = "Regreen proposal";
    this.proposal.command = "regreen.showProposal";
    this.approval.name = "Regreen approval mode";
    this.approval.command = "regreen.changeApproval";
    this.server.name = "Regreen";
    this.server.command = { command: "regreen.showOutput", title: "Show output" };
    this.clock = setInterval(() => { this.draw(); }, 1000);
    this.serverState("Starting", "busy");
  }

  serverState(text: string, state: "busy" | "ready" | "error", detail = ""): void {
    this.server.text = `Regreen: ${text}`;
    this.server.detail = detail;
    this.server.busy = state === "busy";
    this.server.severity = state === "error" ? vscode.LanguageStatusSeverity.Error : vscode.LanguageStatusSeverity.Information;
  }

  approvalMode(mode: Approval): void {
    this.mode = mode;
    this.drawApproval();
    this.approval.show();
  }

  /** What a run said about its seal when it started: `none` is shown all the time, not only on hover. */
  sealSeen(seal: string, allowed: string): void {
    this.seal = seal;
    this.allowed = allowed;
    this.drawApproval();
  }

  /** What a run said about sending code off this machine, shown until another run does not; "" for one that does not. */
  sentAway(words: string): void {
    this.away = words;
    this.drawApproval();
  }

  runStarted(text = "starting"): void {
    this.budget = undefined;
    this.step = 0;
    this.waiting = false;
    this.run.text = `$(beaker) Regreen: ${text}`;
    this.run.tooltip = "Click to show every step.";
    this.run.accessibilityInformation = { label: `Regreen run: ${text}`, role: "button" };
    this.run.show();
  }

  /** Shown until the first budget arrives. */
  progress(text: string): void {
    if (!this.budget) this.run.text = `$(beaker) Regreen: ${text}`;
  }

  stepStarted(step: number): void {
    this.step = step;
    this.draw();
  }

  budgetSeen(budget: Budget): void {
    this.budget = budget;
    this.budgetAt = Date.now();
    this.draw();
  }

  runEnded(): void {
    this.budget = undefined;
    this.run.hide();
  }

  proposalWaits(files: string): void {
    this.waiting = true;
    this.freeze();
    this.proposal.text = `$(diff) Review: ${files}`;
    this.proposal.tooltip = "A proposal waits for you. Click to show it.";
    this.proposal.accessibilityInformation = { label: `Regreen: a proposal for ${files} waits for you`, role: "button" };
    this.proposal.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
    this.proposal.show();
  }

  proposalDone(): void {
    this.waiting = false;
    this.budgetAt = Date.now();
    this.proposal.hide();
  }

  dispose(): void {
    clearInterval(this.clock);
    for (const item of [this.run, this.proposal, this.approval, this.server]) item.dispose();
  }

  private drawApproval(): void {
    const bare = this.seal === "none";
    const signs = [`$(shield) ${APPROVAL_WORDS[this.mode]}`, ...(bare ? ["$(unlock) not sealed"] : []), ...(this.away ? ["$(cloud-upload) code leaves this machine"] : [])];
    this.approval.text = signs.join(" · ");
    const asked = `Regreen asks before it writes: ${APPROVAL_WORDS[this.mode]}. Click to change.`;
    this.approval.tooltip = [asked, showSeal(this.seal, this.allowed), this.away].filter(Boolean).join("\n");
    const spoken = [`Regreen approval: ${APPROVAL_WORDS[this.mode]}`, ...(bare ? ["tests run not sealed"] : []), ...(this.away ? ["code leaves this machine"] : [])];
    this.approval.accessibilityInformation = { label: spoken.join(", "), role: "button" };
    this.approval.backgroundColor = bare ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
  }

  /** The clock of a run stands still while the person decides. */
  private freeze(): void {
    if (this.budget) this.budget = { ...this.budget, seconds: this.seconds(this.budget) };
    this.budgetAt = Date.now();
    this.draw();
  }

  private seconds(budget: Budget): number {
    return budget.seconds + (this.waiting ? 0 : (Date.now() - this.budgetAt) / 1000);
  }

  private draw(): void {
    const budget = this.budget;
    if (!budget) return;
    const step = Math.max(this.step, budget.steps);
    const cost = budget.cost ? [`${showDollars(budget.cost)}${budget.max_cost ? ` of ${showDollars(budget.max_cost)}` : ""}`] : [];
    const parts = [`step ${step} of ${budget.max_steps}`, `${showTokens(budget.tokens)} tokens`, ...cost, showSeconds(this.seconds(budget))];
    this.run.text = `$(beaker) ${parts.join(" · ")}`;
    // Without the clock, which a screen reader would tell every second.
    this.run.accessibilityInformation = { label: `Regreen run: ${parts.slice(0, -1).join(", ")}`, role: "button" };
    this.run.tooltip = `Of ${showTokens(budget.max_tokens)} tokens and ${showSeconds(budget.max_seconds)}. Click to show every step.`;
  }
}

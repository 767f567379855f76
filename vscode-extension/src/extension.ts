/** Wiring: makes the parts and connects them. */

import * as vscode from "vscode";
import { followTests, registerCommands } from "./commands";
import { Explorer } from "./explorer";
import { ModelEnvironment } from "./modelEnvironment";
import { ASK, FIX, type AskArguments, type Asked, type FixAnswer, type FixArguments } from "./protocol";
import { ProposalView } from "./proposalView";
import { Review } from "./review";
import { Runs } from "./runs";
import { readKeys } from "./secrets";
import { Server } from "./server";
import { readSettings, RESTART_SETTINGS } from "./settings";
import { Status } from "./status";

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("Regreen", { log: true });
  const serverLog = vscode.window.createOutputChannel("Regreen Server", { log: true });
  const status = new Status();
  const models = new ModelEnvironment(context, log);
  const review = new Review(status, log, async (decision) => { await server?.sendDecision(decision); });
  const runs = new Runs(log, status, review, new Explorer(log), context.workspaceState, async (changed) => { await server?.sendSettings(changed); });
  const own = new Server(context, log, serverLog, status, models, {
    step: (event) => { runs.step(event); },
    budget: (budget) => { runs.budget(budget); },
    outcome: (outcome) => { runs.outcome(outcome); },
    queue: (notice) => { runs.queue(notice); },
    proposal: (notice) => { review.announce(notice); },
    stopped: () => { runs.stopped(); },
    applyEdit: (params, apply) => review.handleApplyEdit(params, apply),
    executeCommand: (command, args, next) => (command === FIX || command === ASK ? start(command, args, next) : next(command, args)),
  }, () => readKeys(context.secrets));
  server = own;

  const start = async (command: string, args: unknown[], next: (command: string, args: unknown[]) => Promise<unknown>): Promise<unknown> => {
    runs.clicked();
    try {
      const uri = (args[0] as { uri?: string } | undefined)?.uri;
      await own.choosePython(uri ? vscode.workspace.getWorkspaceFolder(vscode.Uri.parse(uri))?.uri : undefined);
      await prepareModel(own, models);
      const answer = await next(command, args);
      const asked: Asked = command === ASK ? { command: ASK, args: args[0] as AskArguments } : { command: FIX, args: args[0] as FixArguments };
      runs.accepted(answer as FixAnswer | null, asked);
      return answer;
    } catch (error) {
      runs.refused();
      throw error;
    }
  };

  const restart = (): void => void own.requestRestart();
  status.approvalMode(readSettings().approval);
  context.subscriptions.push(log, serverLog, status, review, new ProposalView(review), own, followTests(own));
  registerCommands({ context, log, server: own, review, runs, models });
  context.subscriptions.push(
    context.secrets.onDidChange(() => { runs.whenIdle(restart); }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void own.requestRestart()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (!event.affectsConfiguration("regreen")) return;
      status.approvalMode(readSettings().approval);
      if (event.affectsConfiguration("regreen.model")) own.builtinOnly = false;
      if (RESTART_SETTINGS.some((name) => event.affectsConfiguration(`regreen.${name}`))) runs.whenIdle(restart);
      else void own.sendSettings();
    }),
  );
  const settings = readSettings();
  // Asked now, so that the first click does not wait for the answer.
  if (settings.model === "auto") void models.ollamaAnswers(settings.ollamaHost);
  await own.requestRestart();
  void runs.recall();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

/** Sees to it that a run with a model finds the model's libraries; the built-in search needs none. */
async function prepareModel(own: Server, models: ModelEnvironment): Promise<void> {
  const { model, ollamaHost, commandPath } = readSettings();
  if (commandPath || own.builtinOnly || model === "builtin" || model.startsWith("replay:") || models.python() !== null) return;
  if (own.python === null) return;
  if (model === "auto" && !(await models.ollamaAnswers(ollamaHost))) return;
  own.builtinOnly = (await models.setUp(own.python)) === null;
  await own.sendSettings();
}

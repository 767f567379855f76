/** The commands of the palette, the menus and the key bindings. */

import { execFile } from "node:child_process";
import * as vscode from "vscode";
import { CodeActionKind, CodeActionRequest, CodeActionTriggerKind, CodeLensRequest, Command, type CodeAction } from "vscode-languageclient/node";
import type { ModelEnvironment } from "./modelEnvironment";
import { ASK, CANCEL, FIX, type AskArguments, type FixArguments } from "./protocol";
import type { Review } from "./review";
import { showRun } from "./runPage";
import type { Runs } from "./runs";
import { askForKey } from "./secrets";
import type { Server } from "./server";
import { readSettings, type Approval } from "./settings";
import { targetOf, testItemOf } from "./targets";
import { askForFolder, askForTask } from "./taskInput";

export interface Parts {
  context: vscode.ExtensionContext;
  log: vscode.LogOutputChannel;
  server: Server;
  review: Review;
  runs: Runs;
  models: ModelEnvironment;
}

export function registerCommands(parts: Parts): void {
  const { context, log, server, review, runs } = parts;
  const commands: Record<string, (...args: unknown[]) => unknown> = {
    "regreen.fixAtCursor": () => fixAtCursor(server),
    "regreen.fixTestItem": (argument: unknown) => fixTestItem(argument),
    "regreen.describeTask": () => describeTask(parts),
    "regreen.accept": () => { review.accept(); },
    "regreen.acceptAll": () => { review.acceptAll(); },
    "regreen.reject": () => { review.reject(); },
    "regreen.rejectWithReason": () => rejectWithReason(review),
    "regreen.showProposal": (uri: unknown, line: unknown) => review.show(typeof uri === "string" ? uri : undefined, typeof line === "number" ? line : undefined),
    "regreen.showReason": () => review.showReason(),
    "regreen.toggleHunk": () => { review.toggleAtCursor(); },
    "regreen.cancelRun": () => runs.current !== undefined && vscode.commands.executeCommand(CANCEL, { run: runs.current }),
    "regreen.extendBudget": () => runs.extend(),
    "regreen.undoLastRun": () => runs.undo(),
    "regreen.undoFiles": () => runs.undoFiles(),
    "regreen.showRun": (page: unknown) => showPage(parts, page),
    "regreen.showOutput": () => { log.show(true); },
    "regreen.changeApproval": () => changeApproval(),
    "regreen.setUpModel": () => setUpModel(parts),
    "regreen.setApiKey": () => askForKey(context.secrets),
    "regreen.doctor": () => runDoctor(server, log),
    "regreen.restartServer": () => server.requestRestart(),
  };
  for (const [name, run] of Object.entries(commands)) context.subscriptions.push(vscode.commands.registerCommand(name, run));
}

/** Runs the server's own code action at the cursor. */
async function fixAtCursor(server: Server): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const client = server.connection;
  if (!client) {
    notRunning();
    return;
  }
  if (editor?.document.languageId !== "python") return;
  const { document, selection } = editor;
  const elsewhere = whyNot(document);
  if (elsewhere) {
    void vscode.window.showInformationMessage(elsewhere);
    return;
  }
  const actions = await client.sendRequest(CodeActionRequest.type, {
    textDocument: client.code2ProtocolConverter.asTextDocumentIdentifier(document),
    range: client.code2ProtocolConverter.asRange(new vscode.Range(selection.active, selection.active)),
    context: { diagnostics: [], only: [CodeActionKind.QuickFix], triggerKind: CodeActionTriggerKind.Invoked },
  });
  const fix = actions?.map(commandOf).find((command) => command?.command === FIX);
  if (fix) await vscode.commands.executeCommand(FIX, ...((fix.arguments ?? []) as unknown[]));
  else void vscode.window.showInformationMessage("There is no test at the cursor. Put the cursor into a test and try again.");
}

function commandOf(action: Command | CodeAction): Command | undefined {
  return Command.is(action) ? action : action.command;
}

async function fixTestItem(argument: unknown): Promise<void> {
  const item = testItemOf(argument);
  const target = item && targetOf(item);
  if (!item || !target) {
    void vscode.window.showInformationMessage("Regreen fixes pytest tests: choose a test, a class or a file of them.");
    return;
  }
  const uri = item.uri?.toString() ?? vscode.Uri.file(target.target.split("::")[0] ?? "").toString();
  const version = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri)?.version ?? null;
  const args: FixArguments = { uri, ...target, version };
  await vscode.commands.executeCommand(FIX, args);
}

/** Why a test of this document cannot be fixed, or "". */
function whyNot({ uri, isUntitled }: vscode.TextDocument): string {
  if (uri.scheme === "file") return "";
  if (isUntitled) return "Save the file first: a test can only be run from a file.";
  if (uri.scheme.includes("notebook") || uri.path.endsWith(".ipynb")) return "Tests in notebooks cannot be fixed; move the test into a Python file.";
  return "Only tests in files on this machine can be fixed. Put the cursor into the file itself.";
}

/** A task in words: the same loop, with the same proposals, but no named test. */
async function describeTask({ context, server }: Parts): Promise<void> {
  const uri = await askForFolder();
  const text = uri && (await askForTask(context.workspaceState));
  if (!uri || !text) return;
  if (!server.connection) {
    notRunning();
    return;
  }
  const args: AskArguments = { text, uri: uri.toString() };
  await vscode.commands.executeCommand(ASK, args);
}

function notRunning(): void {
  void vscode.window.showWarningMessage("Regreen's server is not running yet. Run “Regreen: Restart Server” when it does not start.");
}

/** The page of a run: the one that a notification is about, else the last one. */
async function showPage({ server, log, runs }: Parts, page: unknown): Promise<void> {
  const { trace, name } = (page ?? runs.page ?? {}) as { trace?: string; name?: string };
  if (trace) await showRun(server, log, trace, name ?? "run");
  else void vscode.window.showInformationMessage("There is no run to show yet: none has ended in this window.");
}

async function rejectWithReason(review: Review): Promise<void> {
  const open = review.current;
  const reason = await vscode.window.showInputBox({
    title: "Regreen: Reject Proposal",
    prompt: "Why? The model reads it before its next try. Enter rejects, Escape goes back to the proposal.",
    placeHolder: "for example: keep the default quantity",
  });
  if (reason !== undefined && review.current === open) review.reject(reason.trim());
}

async function changeApproval(): Promise<void> {
  const now = readSettings().approval;
  const items: (vscode.QuickPickItem & { mode: Approval })[] = [
    { mode: "everyEdit", label: "Every edit", detail: "Every proposal is shown, with what its trial run saw; only what you accept is written." },
    { mode: "whenGreen", label: "When green", detail: "Only a proposal that makes the test pass is shown; only what you accept is written." },
    { mode: "never", label: "Never ask", detail: "A proposal that makes the test pass is written without asking; one undo takes it back." },
  ];
  for (const item of items) if (item.mode === now) item.description = "now";
  const picked = await vscode.window.showQuickPick(items, { title: "Regreen: what is shown to you before it is written?" });
  if (picked) await vscode.workspace.getConfiguration("regreen").update("approval", picked.mode, vscode.ConfigurationTarget.Global);
}

async function setUpModel({ server, models }: Parts): Promise<void> {
  if (models.python() !== null) {
    void vscode.window.showInformationMessage("Regreen's model libraries are set up.");
    return;
  }
  if (server.python === null) return;
  if ((await models.setUp(server.python)) === null) return;
  server.builtinOnly = false;
  await server.sendSettings();
  void vscode.window.showInformationMessage("Regreen's model libraries are set up.");
}

async function runDoctor(server: Server, log: vscode.LogOutputChannel): Promise<void> {
  const start = server.command();
  log.show(true);
  if (!start) {
    log.error("The doctor cannot run: no Python 3.10 or newer was found.");
    return;
  }
  const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  await new Promise<void>((resolve) => {
    const child = execFile(start.command, [...start.args, "doctor"], { cwd, timeout: 60_000, windowsHide: true }, (error, stdout, stderr) => {
      for (const line of `${stdout}\n${stderr}`.split(/\r?\n/)) if (line.trim()) log.info(line);
      if (error && !stdout.trim()) log.error(`The doctor failed: ${error.message}`);
      resolve();
    });
    child.stdin?.end();
  });
}

/** Keeps the context key `regreen.hasTests` true while the active editor shows a file with tests. */
export function followTests(server: Server): vscode.Disposable {
  let timer: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    const document = vscode.window.activeTextEditor?.document;
    const client = server.connection;
    let found = false;
    if (client && document?.languageId === "python" && document.uri.scheme === "file") {
      const textDocument = client.code2ProtocolConverter.asTextDocumentIdentifier(document);
      const lenses = await client.sendRequest(CodeLensRequest.type, { textDocument }).catch(() => null);
      found = (lenses ?? []).length > 0;
    }
    await vscode.commands.executeCommand("setContext", "regreen.hasTests", found);
  };
  const soon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void look(), 150);
  };
  soon();
  return vscode.Disposable.from(
    vscode.window.onDidChangeActiveTextEditor(soon),
    vscode.workspace.onDidChangeTextDocument(({ document }) => { if (document === vscode.window.activeTextEditor?.document) soon(); }),
    server.onDidStart(soon),
    server.onDidGiveLenses(soon),
    { dispose: () => { clearTimeout(timer); } },
  );
}

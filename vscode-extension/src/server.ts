/** Starts the language server and keeps one of it running. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import {
  DidChangeConfigurationNotification,
  LanguageClient,
  RevealOutputChannelOn,
  State,
  type ApplyWorkspaceEditParams,
  type LanguageClientOptions,
  type Middleware,
  type ServerOptions as LaunchOptions,
} from "vscode-languageclient/node";
import type { ModelEnvironment } from "./modelEnvironment";
import type { Budget, Decision, Outcome, ProposalNotice, QueueNotice, RunEvent } from "./protocol";
import { chosenPython, findServerPython } from "./python";
import type { ApplyParams, Apply, ApplyAnswer } from "./review";
import { readSettings, serverOptions, type ServerOptions } from "./settings";
import type { Status } from "./status";

/** What the rest of the extension wants to hear. */
export interface ServerEvents {
  step(event: RunEvent): void;
  budget(budget: Budget): void;
  outcome(outcome: Outcome): void;
  queue(notice: QueueNotice): void;
  proposal(notice: ProposalNotice): void;
  /** The server is gone, and its runs with it. */
  stopped(): void;
  applyEdit(params: ApplyParams, apply: Apply): Promise<ApplyAnswer>;
  executeCommand(command: string, args: unknown[], next: (command: string, args: unknown[]) => Promise<unknown>): Promise<unknown>;
}

/** While it starts, errors go to its log only: we say in our own words what to do. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown, showNotification?: boolean | "force"): void {
    super.error(message, data, this.state === State.Running ? showNotification : false);
  }
}

/** A click must not wait for another extension: what it said before is used then. */
const CHOICE_WAIT_MS = 500;

export type Environment = () => Promise<Record<string, string>>;

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private interpreter: string | null = null;
  private folder: vscode.Uri | undefined;
  /** The Python that runs the server, once it is known. */
  python: string | null = null;
  /** Set when the person chose the built-in search because the model's libraries could not be fetched. */
  builtinOnly = false;
  private readonly started = new vscode.EventEmitter<undefined>();
  readonly onDidStart = this.started.event;
  private readonly lensed = new vscode.EventEmitter<undefined>();
  /** The editor was given lenses: other ones, perhaps, once pytest has told which tests a file holds. */
  readonly onDidGiveLenses = this.lensed.event;
  private restarting: Promise<void> | undefined;
  private again = false;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
    /** What the server itself logs; the steps of its runs are in `log`. */
    private readonly serverLog: vscode.LogOutputChannel,
    private readonly status: Status,
    private readonly models: ModelEnvironment,
    private readonly events: ServerEvents,
    private readonly secrets: Environment,
  ) {}

  get running(): boolean {
    return this.client?.state === State.Running;
  }

  /** The client, when its server answers. */
  get connection(): LanguageClient | undefined {
    return this.running ? this.client : undefined;
  }

  /** Restarts one after the other; any number of requests during a restart make one more. */
  requestRestart(): Promise<void> {
    if (this.restarting) {
      this.again = true;
      return this.restarting;
    }
    this.restarting = this.restartUntilQuiet().finally(() => {
      this.restarting = undefined;
    });
    return this.restarting;
  }

  /** Sends the settings to the running server; a run keeps those that it was started with. */
  async sendSettings(changed: Partial<ServerOptions> = {}): Promise<void> {
    const settings = { regreen: { ...this.options(), ...changed } };
    await this.connection?.sendNotification(DidChangeConfigurationNotification.type, { settings });
  }

  async sendDecision(decision: Decision): Promise<void> {
    await this.connection?.sendNotification("regreen/decision", decision);
  }

  /**
   * Uses, for the runs to come, the Python that is chosen now for this workspace folder, and paths of settings as they
   * are meant in it. Without a folder, those of the first one.
   */
  async choosePython(folder: vscode.Uri | undefined): Promise<void> {
    const before = JSON.stringify(this.options());
    this.folder = folder;
    this.interpreter = (await chosenPython(folder ?? vscode.workspace.workspaceFolders?.[0]?.uri, CHOICE_WAIT_MS)) ?? this.interpreter;
    if (JSON.stringify(this.options()) !== before) await this.sendSettings();
  }

  /** The command line that runs `regreen`, as far as it is known without starting anything. */
  command(): { command: string; args: string[] } | undefined {
    const { commandPath } = readSettings();
    if (commandPath) return { command: commandPath, args: [] };
    return this.python ? { command: this.python, args: ["-I", this.entry()] } : undefined;
  }

  dispose(): void {
    void this.stop();
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (!client) return;
    this.events.stopped();
    try {
      await client.dispose();
    } catch (error) {
      this.log.debug(`stopping the server: ${String(error)}`);
    }
  }

  private async restartUntilQuiet(): Promise<void> {
    await this.stop();
    await this.start();
    if (!this.again) return;
    this.again = false;
    await this.restartUntilQuiet();
  }

  private async start(): Promise<void> {
    this.status.serverState("starting", "busy");
    let launch: LaunchOptions;
    try {
      launch = await this.launch();
    } catch (error) {
      this.notRunning(error instanceof Error ? error.message : String(error), this.log);
      return;
    }
    try {
      const client = new QuietClient("regreen", "Regreen", launch, this.clientOptions());
      this.listen(client);
      this.client = client;
      await client.start();
      this.started.fire(undefined);
      this.status.serverState("ready", "ready", this.command()?.command ?? "");
    } catch (error) {
      this.serverLog.error(String(error));
      this.notRunning("Regreen's server did not start; its output says why.", this.serverLog);
    }
  }

  private notRunning(text: string, log: vscode.LogOutputChannel): void {
    this.status.serverState("not running", "error", text);
    this.log.error(text);
    const offer = async (): Promise<void> => {
      const pressed = await vscode.window.showErrorMessage(text, "Open Settings", "Show Output");
      if (pressed === "Show Output") log.show(true);
      if (pressed === "Open Settings") await vscode.commands.executeCommand("workbench.action.openSettings", "regreen.serverInterpreter");
    };
    void offer();
  }

  private async launch(): Promise<LaunchOptions> {
    const settings = readSettings();
    this.interpreter = await chosenPython(vscode.workspace.workspaceFolders?.[0]?.uri);
    if (settings.commandPath && !existsSync(settings.commandPath)) {
      throw new Error(`The setting regreen.commandPath is ${settings.commandPath}, which does not exist.`);
    }
    if (!settings.commandPath) this.python = await findServerPython(settings.serverInterpreter, this.interpreter);
    const start = this.command() ?? { command: "", args: [] };
    const env = { ...process.env, ...(settings.ollamaHost ? { OLLAMA_HOST: settings.ollamaHost } : {}), ...(await this.secrets()) };
    this.log.info(`Starting the server: ${[start.command, ...start.args, "serve"].join(" ")}`);
    return { command: start.command, args: [...start.args, "serve"], options: { env } };
  }

  private entry(): string {
    return this.context.asAbsolutePath(join("bundled", "server", "regreen", "__main__.py"));
  }

  private options(): ServerOptions {
    const settings = readSettings(this.folder);
    if (this.builtinOnly && !settings.model.startsWith("replay:")) settings.model = "builtin";
    return serverOptions(settings, this.interpreter, settings.commandPath ? null : this.models.python());
  }

  private clientOptions(): LanguageClientOptions {
    return {
      documentSelector: [{ scheme: "file", language: "python" }],
      outputChannel: this.serverLog,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: this.options(),
      middleware: this.middleware(),
    };
  }

  private middleware(): Middleware {
    return {
      executeCommand: (command, args, next) =>
        this.events.executeCommand(command, args as unknown[], async (name, values) => (await next(name, values)) as unknown),
      provideCodeLenses: async (document, token, next) => {
        const lenses = await next(document, token);
        this.lensed.fire(undefined);
        return lenses;
      },
      workspace: {
        handleApplyEdit: async (params, next) => {
          const apply: Apply = async (ours) => {
            const answer = await next(ours as ApplyWorkspaceEditParams, new vscode.CancellationTokenSource().token);
            return answer instanceof Error ? { applied: false, failureReason: answer.message } : answer;
          };
          return this.events.applyEdit(params as ApplyParams, apply);
        },
      },
    };
  }

  private listen(client: LanguageClient): void {
    client.onNotification("regreen/step", (event: RunEvent) => { this.events.step(event); });
    client.onNotification("regreen/budget", (budget: Budget) => { this.events.budget(budget); });
    client.onNotification("regreen/outcome", (outcome: Outcome) => { this.events.outcome(outcome); });
    client.onNotification("regreen/queue", (notice: QueueNotice) => { this.events.queue(notice); });
    client.onNotification("regreen/proposal", (notice: ProposalNotice) => { this.events.proposal(notice); });
    client.onDidChangeState(({ newState }) => {
      if (this.client !== client || newState === State.Starting) return;
      if (newState === State.Running) this.status.serverState("ready", "ready");
      else {
        this.events.stopped();
        this.status.serverState("not running", "error", "Run “Regreen: Restart Server”.");
      }
    });
  }
}

/**
 * The environment in which a run talks to a model.
 *
 * The client libraries for models have parts compiled for one platform and Python version, so they cannot travel in the
 * extension: they are fetched once, on the first use of a model, from a list pinned by hashes, and only as ready-built
 * packages. Until then, and whenever that cannot be done, runs use the built-in search, which needs nothing.
 */

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as vscode from "vscode";

const OLLAMA_WAIT_MS = 300;
const RECENT_MS = 30_000;
const READY = "regreen-ready";

export class ModelEnvironment {
  private readonly lock: string;
  private readonly folder: string;
  private readonly storage: string;
  private building: Promise<string | null> | undefined;
  private ollama: { host: string; at: number; answers: Promise<boolean> } | undefined;

  constructor(context: vscode.ExtensionContext, private readonly log: vscode.LogOutputChannel) {
    this.lock = context.asAbsolutePath(join("bundled", "requirements-run.lock"));
    this.storage = context.globalStorageUri.fsPath;
    const digest = createHash("sha256").update(existsSync(this.lock) ? readFileSync(this.lock) : "").digest("hex");
    this.folder = join(this.storage, `model-${digest.slice(0, 12)}`);
  }

  /** The environment's Python, or null when it is not set up. */
  python(): string | null {
    return existsSync(join(this.folder, READY)) ? this.executable() : null;
  }

  /** Whether an Ollama server answers at `host` within 300 ms; an answer of the last half minute counts. */
  ollamaAnswers(host: string): Promise<boolean> {
    if (this.ollama?.host !== host || Date.now() - this.ollama.at > RECENT_MS) {
      this.ollama = { host, at: Date.now(), answers: answers(ollamaAddress(host)) };
    }
    return this.ollama.answers;
  }

  /** Sets the environment up with progress in a notification. Null: cancelled or failed, and the person knows. */
  setUp(basePython: string): Promise<string | null> {
    this.building ??= this.build(basePython).finally(() => {
      this.building = undefined;
    });
    return this.building;
  }

  private async build(basePython: string): Promise<string | null> {
    for (;;) {
      const problem = await vscode.window.withProgress(
        { location: vscode.ProgressLocation.Notification, title: "Regreen: fetching the model libraries (once)", cancellable: true },
        (progress, token) => this.install(basePython, (message) => { progress.report({ message }); }, token),
      );
      if (problem === "") return this.executable();
      await rm(this.folder, { recursive: true, force: true });
      if (problem === "cancelled") return null;
      this.log.error(`model libraries: ${problem}`);
      const text = `The model libraries could not be fetched: ${problem}. Runs use the built-in search until then.`;
      const pressed = await vscode.window.showWarningMessage(text, "Use Built-in Search", "Try Again", "Show Output");
      if (pressed === "Show Output") this.log.show(true);
      if (pressed !== "Try Again") return null;
    }
  }

  /** "" when done, "cancelled", or what went wrong. */
  private async install(basePython: string, report: (text: string) => void, token: vscode.CancellationToken): Promise<string> {
    await rm(this.folder, { recursive: true, force: true });
    await mkdir(this.storage, { recursive: true });
    const run = (command: string, args: string[]): Promise<string> => this.command(command, args, report, token);
    report("making an environment");
    const pins = ["--require-hashes", "--only-binary", ":all:", "-r", this.lock];
    let problem: string;
    if ((await run("uv", ["--version"])) === "") {
      problem = await run("uv", ["venv", "--no-project", "--python", basePython, this.folder]);
      if (!problem) problem = await run("uv", ["pip", "install", "--python", this.executable(), ...pins]);
    } else {
      problem = await run(basePython, ["-I", "-m", "venv", this.folder]);
      if (!problem) problem = await run(this.executable(), ["-I", "-m", "pip", "install", "--disable-pip-version-check", ...pins]);
    }
    if (token.isCancellationRequested) return "cancelled";
    if (problem) return problem;
    await writeFile(join(this.folder, READY), basePython);
    await this.removeOlder();
    return "";
  }

  /** Runs a command; "" when it succeeds, else its last line of output. */
  private command(command: string, args: string[], report: (text: string) => void, token: vscode.CancellationToken): Promise<string> {
    if (token.isCancellationRequested) return Promise.resolve("cancelled");
    this.log.debug(`model libraries: ${[command, ...args].join(" ")}`);
    return new Promise((resolve) => {
      const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
      const cancel = token.onCancellationRequested(() => child.kill());
      let last = "";
      const seen = (data: Buffer): void => {
        for (const line of data.toString().split(/[\r\n]+/)) {
          if (!line.trim()) continue;
          last = line.trim();
          this.log.debug(`model libraries: ${last}`);
          report(last.slice(0, 80));
        }
      };
      child.stdout.on("data", seen);
      child.stderr.on("data", seen);
      child.on("error", (error) => { cancel.dispose(); resolve(error.message); });
      child.on("close", (code) => { cancel.dispose(); resolve(code === 0 ? "" : last || `${command} ended with code ${code ?? "none"}`); });
    });
  }

  private executable(): string {
    return process.platform === "win32" ? join(this.folder, "Scripts", "python.exe") : join(this.folder, "bin", "python");
  }

  private async removeOlder(): Promise<void> {
    for (const name of await readdir(this.storage)) {
      const path = join(this.storage, name);
      if (name.startsWith("model-") && path !== this.folder) await rm(path, { recursive: true, force: true });
    }
  }
}

/** Ollama's own rules for OLLAMA_HOST: the scheme and the port may be missing, 0.0.0.0 means this machine. */
function ollamaAddress(setting: string): string {
  // An empty value counts as none, in the setting as in the environment.
  const host = [setting, process.env["OLLAMA_HOST"]].find((one) => one) ?? "127.0.0.1:11434";
  const url = new URL(/^https?:\/\//.test(host) ? host : `http://${host}`);
  if (!url.port && !/^https?:\/\//.test(host)) url.port = "11434";
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  return url.toString();
}

async function answers(address: string): Promise<boolean> {
  try {
    return (await fetch(new URL("/api/version", address), { signal: AbortSignal.timeout(OLLAMA_WAIT_MS) })).ok;
  } catch {
    return false;
  }
}

/**
 * Finds the Pythons we need: one of 3.10 or newer that runs the server, and the person's own for their tests.
 *
 * The server's Python is, in this order: the setting `regreen.serverInterpreter`; the environment chosen in the Python
 * Environments extension; the one chosen in the Python extension; `python3`, then `python` on the path. Neither extension
 * is needed. A setting that does not work is an error, never passed over in silence; the others are skipped when older.
 */

import { execFile } from "node:child_process";
import * as vscode from "vscode";

const OLDEST = [3, 10] as const;
const EXTENSION_WAIT_MS = 4000;
const PROBE_WAIT_MS = 10_000;

export class NoPython extends Error {}

/** The part of the Python Environments extension's API that we call. */
interface EnvironmentsApi {
  getEnvironment(scope: vscode.Uri | undefined): Promise<{ execInfo?: { run?: { executable?: string; args?: string[] } } } | undefined>;
}

/** The part of the Python extension's API that we call. */
interface PythonApi {
  environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

/** The Python that runs the server. */
export async function findServerPython(setting: string, chosen: string | null): Promise<string> {
  if (setting) {
    const problem = await problemOf(setting);
    if (problem) throw new NoPython(`The setting regreen.serverInterpreter is ${setting}, which ${problem}.`);
    return setting;
  }
  const tried: string[] = [];
  for (const candidate of [...(chosen ? [chosen] : []), ...onPath()]) {
    const problem = await problemOf(candidate);
    if (!problem) return candidate;
    tried.push(`${candidate} ${problem}`);
  }
  throw new NoPython(`Regreen needs a Python 3.10 or newer to run: ${tried.join("; ")}. Install one, or name it in the setting regreen.serverInterpreter.`);
}

/** The Python that the person chose for `folder` in one of the two extensions, or null. Waits at most `wait` ms for each. */
export async function chosenPython(folder: vscode.Uri | undefined, wait = EXTENSION_WAIT_MS): Promise<string | null> {
  return (await soon(fromEnvironments(folder), wait)) ?? (await soon(fromPythonExtension(folder), wait)) ?? null;
}

function onPath(): string[] {
  return process.platform === "win32" ? ["python", "python3"] : ["python3", "python", "python3.13", "python3.12", "python3.11", "python3.10"];
}

async function fromEnvironments(folder: vscode.Uri | undefined): Promise<string | null> {
  const api = await exportsOf<EnvironmentsApi>("ms-python.vscode-python-envs");
  const environment = await soon(api?.getEnvironment(folder));
  const run = environment?.execInfo?.run;
  // An environment that needs arguments (`conda run …`) cannot be started by its executable alone.
  return run?.executable && (run.args ?? []).length === 0 ? run.executable : null;
}

async function fromPythonExtension(folder: vscode.Uri | undefined): Promise<string | null> {
  const api = await exportsOf<PythonApi>("ms-python.python");
  if (!api) return null;
  const environment = await soon(api.environments.resolveEnvironment(api.environments.getActiveEnvironmentPath(folder)));
  return environment?.executable.uri?.fsPath ?? null;
}

async function exportsOf<T>(id: string): Promise<T | undefined> {
  const extension = vscode.extensions.getExtension<T>(id);
  if (!extension) return undefined;
  return extension.isActive ? extension.exports : await soon(extension.activate());
}

/** The promise's value, or undefined when it fails or takes too long: another extension must not keep us from starting. */
async function soon<T>(promise: PromiseLike<T> | undefined, wait = EXTENSION_WAIT_MS): Promise<T | undefined> {
  if (!promise) return undefined;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => { resolve(undefined); }, wait);
  });
  try {
    return await Promise.race([promise, late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** What keeps `python` from running the server, as the end of a sentence; "" when nothing does. */
async function problemOf(python: string): Promise<string> {
  const answer = await new Promise<string | Error>((resolve) => {
    const code = "import sys; print('.'.join(map(str, sys.version_info[:2])))";
    const child = execFile(python, ["-I", "-c", code], { timeout: PROBE_WAIT_MS, windowsHide: true }, (error, stdout) => {
      resolve(error ?? stdout.trim());
    });
    child.stdin?.end();
  });
  if (answer instanceof Error) return "code" in answer && answer.code === "ENOENT" ? "was not found" : "does not start";
  const [major = 0, minor = 0] = answer.split(".").map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]) ? "" : `is Python ${answer}`;
}

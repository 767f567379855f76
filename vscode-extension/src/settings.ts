/** The person's settings, as the server wants them. */

import * as vscode from "vscode";

export type Approval = "everyEdit" | "whenGreen" | "never";

export interface Settings {
  model: string;
  ollamaHost: string;
  baseUrl: string;
  approval: Approval;
  seal: string;
  allowNetwork: boolean;
  readablePaths: string[];
  environment: string[];
  tests: string;
  search: string;
  collect: boolean;
  maxSteps: number;
  maxTokens: number;
  maxSeconds: number;
  maxCost: number | null;
  interpreter: string;
  serverInterpreter: string;
  commandPath: string;
  rerunInTestExplorer: boolean;
}

/** `initializationOptions`, and the value of `settings.regreen` in `workspace/didChangeConfiguration`. */
export interface ServerOptions {
  review: "preview";
  interpreter: string | null;
  runPython: string | null;
  model: string;
  baseUrl: string | null;
  approval: Approval;
  seal: string;
  allowNetwork: boolean;
  readablePaths: string[];
  environment: string[];
  tests: string;
  search: string;
  collect: boolean;
  maxSteps: number;
  maxTokens: number;
  maxSeconds: number;
  maxCost: number | null;
}

/** The settings now; `${workspaceFolder}` in a path stands for `folder`, or for the first folder of the window. */
export function readSettings(folder = vscode.workspace.workspaceFolders?.[0]?.uri): Settings {
  const section = vscode.workspace.getConfiguration("regreen");
  const path = (text: string): string => expand(text, folder?.fsPath ?? "");
  return {
    model: section.get("model", "auto").trim() || "auto",
    ollamaHost: section.get("ollamaHost", "").trim(),
    baseUrl: section.get("baseUrl", "").trim(),
    approval: section.get<Approval>("approval", "everyEdit"),
    seal: section.get("seal", "require"),
    allowNetwork: section.get("allowNetwork", false),
    readablePaths: section.get<string[]>("readablePaths", []).map(path).filter(Boolean),
    environment: section.get<string[]>("environment", []),
    tests: section.get("tests", "reached"),
    search: section.get("search", "on"),
    collect: section.get("collect", true),
    maxSteps: section.get("maxSteps", 12),
    maxTokens: section.get("maxTokens", 60000),
    maxSeconds: section.get("maxSeconds", 900),
    maxCost: section.get<number | null>("maxCost", null),
    interpreter: path(section.get("interpreter", "")),
    serverInterpreter: path(section.get("serverInterpreter", "")),
    commandPath: path(section.get("commandPath", "")),
    rerunInTestExplorer: section.get("rerunInTestExplorer", true),
  };
}

/** Settings that need another server process; the others are sent to the one that runs. */
export const RESTART_SETTINGS = ["serverInterpreter", "commandPath", "ollamaHost"] as const;

export function serverOptions(settings: Settings, interpreter: string | null, runPython: string | null): ServerOptions {
  const openai = settings.model.startsWith("openai:");
  return {
    review: "preview",
    interpreter: settings.interpreter || interpreter,
    runPython,
    model: settings.model,
    baseUrl: (openai ? settings.baseUrl : settings.ollamaHost) || null,
    approval: settings.approval,
    seal: settings.seal,
    allowNetwork: settings.allowNetwork,
    readablePaths: settings.readablePaths,
    environment: settings.environment,
    tests: settings.tests,
    search: settings.search,
    collect: settings.collect,
    maxSteps: settings.maxSteps,
    maxTokens: settings.maxTokens,
    maxSeconds: settings.maxSeconds,
    maxCost: settings.maxCost,
  };
}

/** `~/` and `${workspaceFolder}` as people write them in paths. */
function expand(path: string, folder: string): string {
  const home = process.env["HOME"] ?? process.env["USERPROFILE"] ?? "~";
  return path.trim().replace(/^~(?=[/\\]|$)/, home).replaceAll("${workspaceFolder}", folder);
}

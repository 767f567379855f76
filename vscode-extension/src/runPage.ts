/** Shows a whole run as the page that `regreen show --html` makes of its trace. */

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import { guarded } from "./render";
import type { Server } from "./server";

const WAIT_MS = 30_000;

/** Opens the page of the run with this trace, beside nothing and with nothing that could run in it. */
export async function showRun(server: Server, log: vscode.LogOutputChannel, trace: string, name: string): Promise<void> {
  const start = server.command();
  const folder = await mkdtemp(join(tmpdir(), "regreen-page-"));
  const file = join(folder, "run.html");
  try {
    if (!start) throw new Error("no Python 3.10 or newer was found");
    await finished(start.command, [...start.args, "show", trace, "--html", file]);
    const page = await readFile(file, "utf8");
    const options: vscode.WebviewPanelOptions & vscode.WebviewOptions = { enableScripts: false, enableForms: false, localResourceRoots: [], enableFindWidget: true };
    const panel = vscode.window.createWebviewPanel("regreen.run", `Regreen: ${name}`, vscode.ViewColumn.Active, options);
    panel.webview.html = guarded(page);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    log.error(`showing ${trace}: ${why}`);
    void vscode.window.showErrorMessage(`The run could not be shown: ${why.split("\n").at(-1) ?? why}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function finished(command: string, args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = execFile(command, args, { timeout: WAIT_MS, windowsHide: true }, (error, _, stderr) => {
      if (error) reject(new Error(stderr.trim() || error.message));
      else resolve();
    });
    child.stdin?.end();
  });
}

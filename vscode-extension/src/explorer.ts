/**
 * Asks VS Code's Test Explorer to run a fixed test again, so that its icon turns green.
 *
 * An extension cannot reach the test items of another one, but VS Code lists the tests of a file
 * (`vscode.testing.getTestsInFile`, since 1.97) and runs those of given ids (`vscode.runTestsById`). So exactly the fixed
 * test is run, by whoever owns it, and only when the Testing view knows it. In an older VS Code nothing happens.
 */

import * as vscode from "vscode";
import { readSettings } from "./settings";
import { idsOf } from "./targets";

/** VS Code's number for running tests, as against debugging them or measuring coverage. */
const RUN = 2;

export class Explorer {
  constructor(private readonly log: vscode.LogOutputChannel) {}

  /** Asks for one run of the tests with these names in the file at `uri`; never fails, and does not wait for it. */
  async runAgain(uri: vscode.Uri, wanted: readonly (readonly string[])[]): Promise<void> {
    if (!readSettings().rerunInTestExplorer || wanted.length === 0) return;
    const unsaved = vscode.workspace.textDocuments.filter((one) => one.isDirty && one.uri.scheme === "file");
    if (unsaved.length > 0) {
      // It would save them first, or not see what they hold.
      const names = unsaved.map((one) => vscode.workspace.asRelativePath(one.uri)).join(", ");
      this.log.info(`The Test Explorer is not asked to run the test again: ${names} has unsaved changes.`);
      return;
    }
    try {
      const known = await vscode.commands.executeCommand<string[][]>("vscode.testing.getTestsInFile", uri);
      const ids = idsOf(known, uri.fsPath, wanted);
      this.log.debug(`Test Explorer: ${ids.length} of ${wanted.length} fixed tests are known there`);
      if (ids.length > 0) await vscode.commands.executeCommand("vscode.runTestsById", RUN, ...ids);
    } catch (error) {
      this.log.debug(`Test Explorer: ${String(error)}`);
    }
  }
}

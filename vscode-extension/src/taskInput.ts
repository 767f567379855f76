/** Asks for a task in words, with the earlier ones to choose from, and for the folder that it is about. */

import * as vscode from "vscode";

const HISTORY = "tasks";
const KEPT = 20;
const FORGET: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("trash"), tooltip: "Forget this task" };

interface TaskItem extends vscode.QuickPickItem {
  task: string;
}

/** The task, or undefined when the person left. `memory` keeps the tasks of this workspace. */
export function askForTask(memory: vscode.Memento): Promise<string | undefined> {
  const pick = vscode.window.createQuickPick<TaskItem>();
  pick.title = "Regreen: Describe a Task";
  pick.placeholder = "For example: there is a bug in bug.py, find and fix it";
  pick.ignoreFocusOut = true;
  const list = (): void => {
    const typed = pick.value.trim();
    const earlier = memory.get<string[]>(HISTORY, []).filter((task) => task !== typed);
    const own: TaskItem[] = typed ? [{ label: `$(sparkle) ${typed}`, task: typed, alwaysShow: true, detail: "Start this task" }] : [];
    pick.items = [...own, ...earlier.map((task) => ({ label: task, task, description: "earlier", buttons: [FORGET] }))];
  };
  list();
  return new Promise((resolve) => {
    pick.onDidChangeValue(list);
    pick.onDidTriggerItemButton(({ item }) => {
      void remember(memory, memory.get<string[]>(HISTORY, []).filter((task) => task !== item.task)).then(list);
    });
    pick.onDidAccept(() => {
      const task = pick.selectedItems[0]?.task ?? pick.value.trim();
      if (!task) return;
      void remember(memory, [task, ...memory.get<string[]>(HISTORY, []).filter((other) => other !== task)].slice(0, KEPT));
      resolve(task);
      pick.hide();
    });
    pick.onDidHide(() => {
      resolve(undefined);
      pick.dispose();
    });
    pick.show();
  });
}

async function remember(memory: vscode.Memento, tasks: string[]): Promise<void> {
  await memory.update(HISTORY, tasks);
}

/** The workspace folder to work in: the only one, or the one that the person picks. Undefined: there is none. */
export async function askForFolder(): Promise<vscode.Uri | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length === 0) {
    void vscode.window.showInformationMessage("Open the folder of your project first: Regreen works in one folder.");
    return undefined;
  }
  if (folders.length === 1) return folders[0]?.uri;
  return (await vscode.window.showWorkspaceFolderPick({ placeHolder: "Which folder is the task about?" }))?.uri;
}

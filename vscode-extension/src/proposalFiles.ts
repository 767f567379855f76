/** The documents of the diff's right side: files in memory, which the person may change before accepting. */

import * as vscode from "vscode";

export const SCHEME = "regreen-proposal";

interface MemoryFile {
  data: Uint8Array;
  changed: number;
  readonly: boolean;
}

export class ProposalFiles implements vscode.FileSystemProvider {
  private readonly files = new Map<string, MemoryFile>();
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changed.event;

  /** Registers the scheme and closes tabs that an earlier window left: their contents are gone. */
  register(): vscode.Disposable {
    const registered = vscode.workspace.registerFileSystemProvider(SCHEME, this, { isCaseSensitive: true });
    void closeTabs(() => true);
    return vscode.Disposable.from(registered, this.changed);
  }

  set(uri: vscode.Uri, text: string, readonly = false): void {
    const known = this.files.has(uri.path);
    this.files.set(uri.path, { data: Buffer.from(text, "utf8"), changed: Date.now(), readonly });
    if (known) this.changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  /** What the person sees in it now, saved or not. */
  textOf(uri: vscode.Uri): string {
    const shown = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
    return shown ? shown.getText() : Buffer.from(this.files.get(uri.path)?.data ?? []).toString("utf8");
  }

  /** Closes the tabs of a proposal, without a question about unsaved changes, and forgets its files. */
  async close(folder: string): Promise<void> {
    const under = (uri: vscode.Uri): boolean => uri.scheme === SCHEME && uri.path.startsWith(folder);
    for (const document of vscode.workspace.textDocuments) if (under(document.uri) && document.isDirty) await document.save();
    await closeTabs(under);
    for (const path of this.files.keys()) if (path.startsWith(folder)) this.files.delete(path);
  }

  watch(): vscode.Disposable {
    // Files here change through `set` and `writeFile` alone, and both say so.
    return new vscode.Disposable(() => undefined);
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const file = this.find(uri);
    const stat: vscode.FileStat = { type: vscode.FileType.File, ctime: 0, mtime: file.changed, size: file.data.byteLength };
    return file.readonly ? { ...stat, permissions: vscode.FilePermission.Readonly } : stat;
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return this.find(uri).data;
  }

  writeFile(uri: vscode.Uri, data: Uint8Array): void {
    const file = this.find(uri);
    if (file.readonly) throw vscode.FileSystemError.NoPermissions(uri);
    this.files.set(uri.path, { ...file, data, changed: Date.now() });
    this.changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  private find(uri: vscode.Uri): MemoryFile {
    const file = this.files.get(uri.path);
    if (!file) throw vscode.FileSystemError.FileNotFound(uri);
    return file;
  }
}

async function closeTabs(which: (uri: vscode.Uri) => boolean): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const ours = tabs.filter(({ input }) => {
    const uri = input instanceof vscode.TabInputTextDiff ? input.modified : input instanceof vscode.TabInputText ? input.uri : undefined;
    return uri?.scheme === SCHEME && which(uri);
  });
  if (ours.length > 0) await vscode.window.tabGroups.close(ours);
}

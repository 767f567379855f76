/** The view "Regreen Proposal": files and hunks of the proposal that waits, each with a checkbox that keeps it or leaves it out. */

import * as vscode from "vscode";
import { urisOf, type Hunk } from "./edits";
import { cautions, countChanges, showVerdict } from "./render";
import type { OpenProposal, Review } from "./review";

type Node = { kind: "file"; uri: string } | { kind: "hunk"; hunk: Hunk };

export class ProposalView implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly view: vscode.TreeView<Node>;
  private readonly subscriptions: vscode.Disposable;
  private shown: OpenProposal | undefined;
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly review: Review) {
    this.view = vscode.window.createTreeView<Node>("regreen.proposal", { treeDataProvider: this, manageCheckboxStateManually: true });
    this.subscriptions = vscode.Disposable.from(
      this.view,
      this.changed,
      review.onDidChangeProposal((open) => { this.update(open); }),
      this.view.onDidChangeCheckboxState(({ items }) => { this.checked(items); }),
    );
  }

  getChildren(node?: Node): Node[] {
    const open = this.review.current;
    if (!open) return [];
    if (!node) return urisOf(open.edit).map((uri) => ({ kind: "file", uri }));
    return node.kind === "file" ? hunksIn(open, node.uri).map((hunk) => ({ kind: "hunk", hunk })) : [];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const open = this.review.current;
    if (!open) return new vscode.TreeItem("");
    return node.kind === "file" ? fileItem(open, node.uri) : hunkItem(open, node.hunk);
  }

  getParent(node: Node): Node | undefined {
    return node.kind === "hunk" ? { kind: "file", uri: node.hunk.uri } : undefined;
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  private checked(items: readonly (readonly [Node, vscode.TreeItemCheckboxState])[]): void {
    const open = this.review.current;
    if (!open) return;
    for (const [node, state] of items) {
      const hunks = node.kind === "file" ? hunksIn(open, node.uri) : [node.hunk];
      this.review.setKept(hunks, state === vscode.TreeItemCheckboxState.Checked);
    }
  }

  private update(open: OpenProposal | undefined): void {
    const { why, verdict } = open?.proposal ?? { why: "", verdict: null };
    const tried = verdict ? `Trial: ${showVerdict(verdict)}.` : "";
    const part = open && open.leftOut.size > 0 ? "The trial was of the whole; the part you keep is tried when you accept it." : "";
    this.view.message = [why, tried, open ? cautions(open.proposal) : "", part].filter(Boolean).join(" ");
    this.changed.fire(undefined);
    const first = open && urisOf(open.edit)[0];
    // Only when there is something to choose from does the view come forward by itself.
    if (open && open !== this.shown && open.hunks.length > 1 && first !== undefined) void this.view.reveal({ kind: "file", uri: first }, { focus: false, select: false });
    this.shown = open;
  }
}

function hunksIn(open: OpenProposal, uri: string): Hunk[] {
  return open.hunks.filter((hunk) => hunk.uri === uri);
}

function fileItem(open: OpenProposal, uri: string): vscode.TreeItem {
  const item = new vscode.TreeItem(open.pathOf(uri), vscode.TreeItemCollapsibleState.Expanded);
  item.id = uri;
  item.resourceUri = vscode.Uri.parse(uri);
  item.iconPath = vscode.ThemeIcon.File;
  item.description = countChanges(open.proposal.files.find((file) => file.uri === uri)?.diff ?? "");
  item.checkboxState = checkbox(hunksIn(open, uri).some(open.kept));
  item.command = { command: "regreen.showProposal", title: "Show", arguments: [uri] };
  return item;
}

function hunkItem(open: OpenProposal, hunk: Hunk): vscode.TreeItem {
  const item = new vscode.TreeItem(hunk.label);
  item.id = `${hunk.uri}#${hunk.change}.${hunk.edit}`;
  item.checkboxState = checkbox(open.kept(hunk));
  item.tooltip = "Checked: kept when you accept.";
  item.command = { command: "regreen.showProposal", title: "Show", arguments: [hunk.uri, hunk.line] };
  return item;
}

function checkbox(checked: boolean): vscode.TreeItemCheckboxState {
  return checked ? vscode.TreeItemCheckboxState.Checked : vscode.TreeItemCheckboxState.Unchecked;
}

// Plays the Python extension's test controller: same controller id, same item ids, one failed result. A run asked of it
// is written down, a line of JSON for each, and carried out with the Python of the settings.
const { execFile } = require("node:child_process");
const { appendFileSync, mkdirSync } = require("node:fs");
const { join } = require("node:path");
const vscode = require("vscode");

exports.activate = async (context) => {
  const controller = vscode.tests.createTestController("python-tests", "Python Tests");
  context.subscriptions.push(controller);
  const root = vscode.workspace.workspaceFolders[0].uri;
  const uri = vscode.Uri.joinPath(root, "tests", "test_cart.py");
  const file = controller.createTestItem(uri.fsPath, "test_cart.py", uri);
  const tests = ["test_adding_more_of_a_product_reaches_the_offer", "test_different_products_add_up"].map((name, index) => {
    const item = controller.createTestItem(`${uri.fsPath}::${name}`, name, uri);
    item.range = index === 0 ? new vscode.Range(21, 0, 27, 30) : new vscode.Range(7, 0, 11, 30);
    file.children.add(item);
    return item;
  });
  controller.items.add(file);

  const asked = join(context.globalStorageUri.fsPath, "requests.jsonl");
  mkdirSync(context.globalStorageUri.fsPath, { recursive: true });
  controller.createRunProfile("Run", vscode.TestRunProfileKind.Run, async (request) => {
    const wanted = (request.include ?? []).map((item) => item.id);
    appendFileSync(asked, `${JSON.stringify({ wanted, continuous: request.continuous ?? false })}\n`);
    const run = controller.createTestRun(request);
    for (const item of request.include ?? []) {
      const python = vscode.workspace.getConfiguration("regreen").get("interpreter");
      const passes = await new Promise((resolve) => {
        execFile(python, ["-m", "pytest", "-q", "-p", "no:cacheprovider", item.id], { cwd: root.fsPath }, (error) => { resolve(!error); });
      });
      if (passes) run.passed(item);
      else run.failed(item, new vscode.TestMessage("still red"));
    }
    run.end();
  }, true);

  const run = controller.createTestRun(new vscode.TestRunRequest([tests[0]]));
  const message = new vscode.TestMessage("assert 250 == 400");
  message.location = new vscode.Location(uri, new vscode.Position(26, 0));
  run.failed(tests[0], message);
  run.end();
};

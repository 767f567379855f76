// Plays the Python extension's test controller: same controller id, same item ids, one failed result.
const vscode = require("vscode");

exports.activate = async (context) => {
  const controller = vscode.tests.createTestController("python-tests", "Python Tests");
  context.subscriptions.push(controller);
  const uri = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, "tests", "test_cart.py");
  const file = controller.createTestItem(uri.fsPath, "test_cart.py", uri);
  const name = "test_adding_more_of_a_product_reaches_the_offer";
  const item = controller.createTestItem(`${uri.fsPath}::${name}`, name, uri);
  item.range = new vscode.Range(21, 0, 27, 30);
  file.children.add(item);
  controller.items.add(file);
  const run = controller.createTestRun(new vscode.TestRunRequest([item]));
  const message = new vscode.TestMessage("assert 250 == 400");
  message.location = new vscode.Location(uri, new vscode.Position(26, 0));
  run.failed(item, message);
  run.end();
};

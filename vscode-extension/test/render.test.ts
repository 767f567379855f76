import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunEvent, Verdict } from "../src/protocol";
import { cautions, countChanges, guarded, nameProposal, permissionNamed, RunLog, sentAway, shorten, showCall, showSeal, showSeconds, showTokens, showVerdict } from "../src/render";

const RED: Verdict = {
  target: "failed", fixed: false, progress: "forward", passed: 3, failed: 1, collected_before: 4, collected_after: 4, newly_failing: [], reason: "assert 400 == 360",
};

function texts(log: RunLog, ...events: RunEvent[]): string[] {
  return events.flatMap((event) => log.event(event)).filter(({ level }) => level !== "debug").map(({ text }) => text);
}

test("the model's text comes out line by line as it streams", () => {
  const log = new RunLog();
  assert.deepEqual(texts(log, { run: "r", event: "text", delta: "The test " }), []);
  assert.deepEqual(texts(log, { run: "r", event: "text", delta: "wants 400.\nSo " }), ["  │ The test wants 400."]);
  assert.deepEqual(texts(log, { run: "r", event: "call", name: "run_tests", arguments: {} }), ["  │ So ", "  → run_tests()"]);
});

test("two runs do not mix their unfinished lines", () => {
  const log = new RunLog();
  texts(log, { run: "a", event: "text", delta: "half" });
  assert.deepEqual(texts(log, { run: "b", event: "step", n: 1 }), ["Step 1"]);
  assert.deepEqual(texts(log, { run: "a", event: "step", n: 2 }), ["  │ half", "Step 2"]);
});

test("a call shows its arguments short, and in full at debug level", () => {
  const find = "x".repeat(500);
  const lines = new RunLog().event({ run: "r", event: "call", name: "edit_file", arguments: { path: "cart.py", find } });
  const [short, full] = lines.map(({ level, text }) => `${level} ${text}`);
  assert.ok(short !== undefined && short.length < 180);
  assert.match(short, /^info .*path="cart\.py"/);
  assert.ok(full?.startsWith("debug ") && full.includes(find));
});

test("what is cut says how much", () => {
  const short = shorten("a".repeat(300), 100);
  assert.ok(short.length <= 104);
  const left = Number(/…(\d+) more…/.exec(short)?.[1]);
  assert.equal(left + short.replace(/ …\d+ more… /, "").length, 300);
  assert.equal(shorten("one\n  two"), "one ⏎ two");
});

test("a verdict reads as a sentence", () => {
  assert.equal(showVerdict(RED), "not fixed yet, but the failure moved forward: assert 400 == 360");
  assert.equal(showVerdict({ ...RED, fixed: true, passed: 41, failed: 0 }), "target passes, 41 of 41 tests pass");
  const told = showVerdict({ ...RED, fixed: true, passed: 12, failed: 1, scope: "3 slow tests left out" });
  assert.equal(told, "target passes, 12 of 13 tests pass, 1 failed before too (3 slow tests left out)");
  assert.match(showVerdict({ ...RED, fixed: true, doubt: "it answers the test's own values" }), /before too; look closely: it answers/);
  const undecided: Verdict = { ...RED, target: "passed", progress: "changed", failed: 0, decides: false, reason: "no test failed before" };
  assert.equal(showVerdict(undecided), "not verified: no test failed before");
  assert.equal(nameProposal({ verdict: undecided, confidence: "high" }), "no test decides");
  assert.match(showVerdict({ ...undecided, progress: "worse" }), /^not fixed: /);
});

test("the outcome ends with what the run took", () => {
  const lines = new RunLog().outcome({
    run: "r", outcome: "fixed", target: "tests/test_cart.py::test_total", summary: "Two edits.\n\nDone.", steps: 2,
    tokens: { prompt: 1830, generated: 141 }, seconds: { model: 9.1, tests: 0.7 },
  });
  assert.deepEqual(lines.map(({ text }) => text), [
    "Fixed: tests/test_cart.py::test_total", "  Two edits.", "  Done.", "  2 steps · 2k tokens · model 9.1 s · tests 0.7 s",
  ]);
});

test("an event of a newer server is shown at debug level, not lost", () => {
  const lines = new RunLog().event({ run: "r", event: "weather", sky: "blue" } as unknown as RunEvent);
  assert.deepEqual(lines, [{ level: "debug", text: '  {"run":"r","event":"weather","sky":"blue"}' }]);
});

test("numbers for people", () => {
  assert.deepEqual([showTokens(812), showTokens(41230), showSeconds(35.9), showSeconds(135)], ["812", "41k", "35 s", "2 min 15 s"]);
  assert.equal(countChanges("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+c\n"), "+2 −1");
  assert.equal(showCall("read_file", { path: "a.py", start_line: 3 }), 'read_file(path="a.py", start_line=3)');
});

test("the seal is said in words, and what the person allowed beyond it", () => {
  assert.equal(showSeal(""), "");
  assert.equal(showSeal("bubblewrap"), "Tests run sealed with bubblewrap.");
  assert.match(showSeal("none"), /NOT sealed/);
  assert.match(showSeal("landlock", "use the network"), /landlock\. You allow them to use the network\.$/);
});

test("low confidence is said in the tab, before the decision and in the output", () => {
  const green = { ...RED, fixed: true };
  assert.equal(nameProposal({ verdict: green, confidence: "high" }), "target passes");
  assert.equal(nameProposal({ verdict: green, confidence: "low" }), "target passes, low confidence");
  assert.match(cautions({ confidence: "low" }), /^Confidence is low/);
  assert.equal(cautions({ confidence: "medium" }), "");
  const said = texts(new RunLog(), { run: "r", event: "proposal", id: "p1", why: "Add.", confidence: "low", alternatives: 2, files: [] });
  assert.ok(said.includes("    confidence: low") && said.some((line) => line.includes("Confidence is low")));
});

test("how many more possibilities there are is said", () => {
  assert.match(cautions({ alternatives: 2 }), /^2 more possibilities pass: reject this one/);
  assert.match(cautions({ alternatives: 1, confidence: "low" }), /^Confidence is low.* 1 more possibility passes/);
  assert.equal(cautions({ alternatives: 0 }), "");
  assert.match(cautions({ asks: ["pyproject.toml"] }), /built, checked or tested: pyproject\.toml\.$/);
  assert.equal(cautions({ alternatives: null }), "");
});

test("a note about code that leaves the machine is told from others", () => {
  const note = "This run sends parts of your code to https://api.openai.com/v1, off this machine.";
  assert.equal(sentAway(note), note);
  assert.equal(sentAway("qwen2.5:3b is not pulled, so llama3 is used."), undefined);
});

test("the policy of a page stands before everything in it", () => {
  for (const page of ["<!DOCTYPE html>\n<html><head><script>1</script></head></html>", "<html></html>", "\uFEFF<!doctype HTML><p>", "<script>1</script>"]) {
    const made = guarded(page);
    assert.match(made, /^<!DOCTYPE html><meta http-equiv="Content-Security-Policy" content="default-src 'none'; [^"]*">/);
    assert.ok(!/script-src|unsafe-eval|https?:/.test(made.slice(0, made.indexOf(">", 20) + 1)));
    assert.equal(made.match(/<!doctype/gi)?.length, 1);
  }
});

test("the permission that a test needs is found in the words of the outcome, and nothing else is", () => {
  assert.equal(permissionNamed("a sealed run cannot reach it: --allow-network (in VS Code regreen.allowNetwork) allows it"), "regreen.allowNetwork");
  assert.equal(permissionNamed("kept out: --readable /srv/data (in VS Code regreen.readablePaths) allows it"), "regreen.readablePaths");
  assert.equal(permissionNamed("No module named 'yaml' (in VS Code regreen.seal)"), undefined);
  assert.equal(permissionNamed(undefined), undefined);
});

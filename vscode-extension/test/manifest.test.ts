import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

interface Setting {
  type: string | string[];
  scope?: string;
  order?: number;
  description?: string;
  markdownDescription?: string;
}

interface Manifest {
  contributes: {
    commands: { command: string; title: string }[];
    menus: Record<string, { command: string }[]>;
    keybindings: { command: string; key: string; mac: string; when: string }[];
    configuration: { properties: Record<string, Setting> };
    walkthroughs: { steps: { description: string; media: { altText: string } }[] }[];
  };
}

const ROOT = join(__dirname, "..", "..");
const { contributes } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Manifest;
const settings = Object.entries(contributes.configuration.properties);
/** Where code goes, who may do what without asking, what tests may reach, what is started, and what a run may use up. */
const GUARDED = [
  "model", "ollamaHost", "baseUrl", "approval", "seal", "allowNetwork", "readablePaths", "environment", "maxSteps", "maxTokens", "maxSeconds", "maxCost",
  "collect", "serverInterpreter", "commandPath",
];

test("a workspace cannot set what guards the person, and the setting says so", () => {
  for (const name of GUARDED) {
    const setting = contributes.configuration.properties[`regreen.${name}`];
    assert.equal(setting?.scope, "machine", name);
    assert.match(setting.markdownDescription ?? "", /A workspace cannot set this/, name);
  }
});

test("every setting has a scope, a place of its own and a description", () => {
  const orders = settings.map(([, setting]) => setting.order);
  assert.deepEqual(orders, settings.map((_, index) => index + 1));
  for (const [name, setting] of settings) {
    assert.ok(["machine", "machine-overridable", "window"].includes(setting.scope ?? ""), name);
    assert.match(setting.description ?? setting.markdownDescription ?? "", /[.]$/, name);
  }
});

test("every setting is read, and the extension's page speaks of it", () => {
  const source = readFileSync(join(ROOT, "src", "settings.ts"), "utf8");
  const page = readFileSync(join(ROOT, "README.md"), "utf8");
  for (const [name] of settings) {
    assert.ok(source.includes(`"${name.replace("regreen.", "")}"`), `${name} is read`);
    assert.ok(page.includes(`\`${name}\``), `${name} is described`);
  }
});

test("commands, menus and keys fit together", () => {
  const source = readFileSync(join(ROOT, "src", "commands.ts"), "utf8");
  const declared = contributes.commands.map(({ command }) => command);
  for (const command of declared) assert.ok(source.includes(`"${command}":`), `${command} is registered`);
  for (const { command } of Object.values(contributes.menus).flat()) assert.ok(declared.includes(command), command);
  for (const { command, key, mac, when } of contributes.keybindings) {
    assert.ok(declared.includes(command), command);
    assert.equal(mac, key.replaceAll("ctrl", "cmd"));
    assert.notEqual(when, "", `${command} has a condition`);
  }
  const keys = contributes.keybindings.map(({ key, when }) => `${key} ${when}`);
  assert.equal(new Set(keys).size, keys.length, "no key twice");
});

test("links of the walkthrough lead to commands that exist, and its pictures have words", () => {
  const declared = contributes.commands.map(({ command }) => command);
  for (const { description, media } of contributes.walkthroughs.flatMap(({ steps }) => steps)) {
    for (const link of description.matchAll(/\(command:([\w.]+)/g)) assert.ok(declared.includes(link[1] ?? "") || link[1]?.startsWith("workbench."), link[1]);
    assert.notEqual(media.altText, "");
  }
});

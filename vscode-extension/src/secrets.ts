/** Keys of model servers: kept in the system's secret storage, handed to the server's process by its environment, never written to settings. */

import * as vscode from "vscode";

const KEYS = [
  { name: "OPENAI_API_KEY", label: "OpenAI-compatible server", detail: "for models openai:NAME" },
  { name: "OPENROUTER_API_KEY", label: "OpenRouter", detail: "for models openai:NAME, when no other address is set" },
  { name: "OLLAMA_API_KEY", label: "Ollama server that asks for a key", detail: "for models ollama:NAME" },
] as const;

export async function readKeys(secrets: vscode.SecretStorage): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { name } of KEYS) {
    const value = await secrets.get(name);
    if (value) found[name] = value;
  }
  return found;
}

/** Asks for a key and stores it; an empty one removes it. */
export async function askForKey(secrets: vscode.SecretStorage): Promise<void> {
  const items = KEYS.map(({ name, label, detail }) => ({ label, description: name, detail, name }));
  const picked = await vscode.window.showQuickPick(items, { title: "Regreen: which key?" });
  if (!picked) return;
  const prompt = `${picked.label}: the key. Leave it empty to remove the stored one.`;
  const value = await vscode.window.showInputBox({ title: "Regreen: Set API Key", prompt, password: true, ignoreFocusOut: true });
  if (value === undefined) return;
  if (value.trim()) await secrets.store(picked.name, value.trim());
  else await secrets.delete(picked.name);
}

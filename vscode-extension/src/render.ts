/** Turns the events of a run into lines for the output panel. Pure: no editor in here. */

import type { Outcome, Proposal, QueueNotice, RunEvent, Verdict } from "./protocol";

export type Level = "debug" | "info" | "warn";

export interface Line {
  level: Level;
  text: string;
}

const SHORT = 100;

/** One line, at most `limit` characters, cut in the middle with the number of characters left out. */
export function shorten(text: string, limit = SHORT): string {
  const line = text.replace(/\s*[\r\n]+\s*/g, " ⏎ ").trim();
  if (line.length <= limit) return line;
  const half = Math.floor((limit - 12) / 2);
  return `${line.slice(0, half)} …${line.length - 2 * half} more… ${line.slice(-half)}`;
}

/** A tool call as it would be written: `edit_file(path="shop/cart.py", find="…", replace="…")`. */
export function showCall(name: string, args: Record<string, unknown>): string {
  const parts = Object.entries(args).map(([key, value]) => `${key}=${shorten(JSON.stringify(value))}`);
  return `${name}(${parts.join(", ")})`;
}

/** "target passes, 41 of 41 tests pass", or what is still wrong. */
export function showVerdict(verdict: Verdict): string {
  const total = verdict.passed + verdict.failed;
  if (verdict.fixed) {
    const before = verdict.failed > 0 ? `, ${verdict.failed} failed before too` : "";
    const scope = verdict.scope ? ` (${verdict.scope})` : "";
    const doubt = verdict.doubt ? `; look closely: ${verdict.doubt}` : "";
    return `target passes, ${verdict.passed} of ${total} tests pass${before}${scope}${doubt}`;
  }
  if (verdict.decides === false && verdict.progress !== "worse") return verdict.reason ? `not verified: ${verdict.reason}` : "not verified";
  const moved = verdict.progress === "forward" ? "not fixed yet, but the failure moved forward" : "not fixed";
  return verdict.reason ? `${moved}: ${verdict.reason}` : moved;
}

/** The verdict in a few words, for a tab. */
export function nameVerdict(verdict: Verdict | null): string {
  if (!verdict) return "not tried";
  if (verdict.fixed) return "target passes";
  if (verdict.decides === false && verdict.progress !== "worse") return "no test decides";
  return verdict.progress === "forward" ? "moves the failure forward" : "does not fix it yet";
}

/** The verdict for a tab, with the confidence when it is low. */
export function nameProposal(proposal: Pick<Proposal, "verdict" | "confidence">): string {
  return [nameVerdict(proposal.verdict), ...(proposal.confidence === "low" ? ["low confidence"] : [])].join(", ");
}

/** What a person should know before they decide: that the confidence is low, and how many possibilities there are. */
export function cautions(proposal: { confidence?: string | undefined; alternatives?: number | null | undefined; asks?: string[] | null | undefined }): string {
  const asks = proposal.asks ?? [];
  const build = asks.length > 0 ? `It changes how the project is built, checked or tested: ${asks.join(", ")}.` : "";
  const low = proposal.confidence === "low" ? "Confidence is low: the tests pin this change down badly, so read it before you keep it." : "";
  const more = proposal.alternatives ?? 0;
  const next = more > 0 ? `${more === 1 ? "1 more possibility passes" : `${more} more possibilities pass`}: reject this one to see the next.` : "";
  return [build, low, next].filter(Boolean).join(" ");
}

/** Where a run says that it sends code to: the words it says, or undefined for any other note. */
export function sentAway(note: string): string | undefined {
  return /\boff this machine\b/.test(note) ? note : undefined;
}

/**
 * A page for a webview: whatever stands in it, it loads nothing, runs nothing and sends nothing. The policy comes before
 * everything else in the page, and one that the page has of its own can only narrow it.
 */
export function guarded(page: string): string {
  const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'";
  const meta = `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
  return `<!DOCTYPE html>${meta}${page.replace(/^\uFEFF?\s*(?:<!doctype[^>]*>)?/i, "")}`;
}

/** 812 → "812", 41230 → "41k". */
export function showTokens(tokens: number): string {
  return tokens < 1000 ? String(tokens) : `${Math.round(tokens / 1000)}k`;
}

/** 0.0412 → "$0.04", 0.0001 → "under 1 cent". */
export function showDollars(dollars: number): string {
  return dollars > 0 && dollars < 0.005 ? "under 1 cent" : `$${dollars.toFixed(2)}`;
}

/** 35.4 → "35 s", 135 → "2 min 15 s". */
export function showSeconds(seconds: number): string {
  const whole = Math.floor(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** Lines added and removed by a unified diff, as "+1 −1". */
export function countChanges(diff: string): string {
  let added = 0;
  let removed = 0;
  for (const line of diff.split("\n")) {
    if (line.startsWith("+") && !line.startsWith("+++ ")) added++;
    else if (line.startsWith("-") && !line.startsWith("--- ")) removed++;
  }
  return `+${added} −${removed}`;
}

export const OUTCOME_WORDS: Readonly<Record<string, string>> = {
  fixed: "Fixed",
  already_passing: "Already passing",
  test_looks_wrong: "The test looks wrong",
  setup_problem: "Something outside the code is missing",
  not_verified: "Changed, but not verified",
  budget: "Budget used up",
  stuck: "Stuck",
  rejected: "Rejected",
  cancelled: "Cancelled",
  error: "Regreen failed",
};

export function outcomeWord(outcome: string): string {
  return OUTCOME_WORDS[outcome] ?? outcome;
}

/** Puts streamed pieces of text together and gives them out a line at a time. */
export class LineAssembler {
  private rest = "";

  add(delta: string): string[] {
    const lines = (this.rest + delta).split(/\r\n|\r|\n/);
    this.rest = lines.pop() ?? "";
    return lines;
  }

  flush(): string[] {
    const rest = this.rest;
    this.rest = "";
    return rest ? [rest] : [];
  }
}

/** Renders the events of all runs; keeps for each run only the unfinished line of the model's text. */
export class RunLog {
  private readonly texts = new Map<string, LineAssembler>();

  event(event: RunEvent): Line[] {
    if (event.event === "text") return this.assembler(event.run).add(event.delta).map(modelLine);
    return [...this.flush(event.run), ...render(event)];
  }

  queue(notice: QueueNotice): Line[] {
    return [info(`Waiting: ${notice.target} (${notice.position} before it in this folder)`)];
  }

  outcome(outcome: Outcome): Line[] {
    const lines = this.flush(outcome.run);
    this.texts.delete(outcome.run);
    const level: Level = outcome.outcome === "fixed" || outcome.outcome === "already_passing" ? "info" : "warn";
    const word = outcomeWord(outcome.outcome);
    lines.push({ level, text: `${word}: ${outcome.target}` });
    const details = outcome.summary ?? outcome.explanation ?? "";
    for (const line of details.split(/\r?\n/)) {
      // A summary may begin with what the line above it says.
      if (line.trim() && line.trim() !== `${word}: ${outcome.target}`) lines.push({ level, text: `  ${line.trimEnd()}` });
    }
    lines.push(info(`  ${showCosts(outcome)}`));
    if (outcome.trace) lines.push({ level: "debug", text: `  trace: ${outcome.trace}` });
    return lines;
  }

  private assembler(run: string): LineAssembler {
    const known = this.texts.get(run) ?? new LineAssembler();
    this.texts.set(run, known);
    return known;
  }

  private flush(run: string): Line[] {
    return this.assembler(run).flush().map(modelLine);
  }
}

function info(text: string): Line {
  return { level: "info", text };
}

/** How test runs are sealed, for the status bar; "" while no run has shown it. */
export function showSeal(seal: string, allowed = ""): string {
  if (!seal) return "";
  const words = seal === "none" ? "Tests run NOT sealed: with your own rights and network." : `Tests run sealed with ${seal}.`;
  return allowed ? `${words} You allow them to ${allowed}.` : words;
}

function modelLine(text: string): Line {
  return info(`  │ ${text}`);
}

function showCosts(outcome: Outcome): string {
  const parts: string[] = [];
  if (outcome.steps !== undefined) parts.push(`${outcome.steps} ${outcome.steps === 1 ? "step" : "steps"}`);
  const tokens = (outcome.tokens?.prompt ?? 0) + (outcome.tokens?.generated ?? 0);
  if (outcome.tokens) parts.push(`${showTokens(tokens)} tokens`);
  if (outcome.cost) parts.push(showDollars(outcome.cost));
  for (const [name, value] of Object.entries(outcome.seconds ?? {})) parts.push(`${name} ${value.toFixed(1)} s`);
  return parts.join(" · ");
}

function render(event: Exclude<RunEvent, { event: "text" }>): Line[] {
  switch (event.event) {
    case "started":
      return [
        info(`Run ${event.run}: ${event.target}`),
        info(`  model ${event.model} · seal ${event.seal}${event.approval ? ` · approval ${event.approval}` : ""}`),
      ];
    case "note":
      return [{ level: event.level === "warning" ? "warn" : "info", text: `  ${event.text}` }];
    case "progress":
      return [{ level: "debug", text: `  ${event.text}${typeof event.percent === "number" ? ` ${Math.round(event.percent)} %` : ""}` }];
    case "evidence":
      return renderEvidence(event.failure);
    case "step":
      return [info(`Step ${event.n}`)];
    case "call":
      return [info(`  → ${showCall(event.name, event.arguments)}`), { level: "debug", text: `    ${JSON.stringify(event.arguments)}` }];
    case "result":
      return [info(`  ${event.ok === false ? "✗" : "←"} ${event.name}: ${shorten(event.summary, 200)}`)];
    case "trial":
      return [info(`  trial: ${showVerdict(event.verdict)}`)];
    case "proposal":
      return [
        info(`  proposal: ${event.files.map((file) => `${file.path} (${countChanges(file.diff)})`).join(", ")}`),
        ...(event.why ? [info(`    ${shorten(event.why, 300)}`)] : []),
        ...(event.confidence ? [info(`    confidence: ${event.confidence}`)] : []),
        ...[cautions(event)].filter(Boolean).map((text): Line => ({ level: "warn", text: `    ${text}` })),
        ...event.files.flatMap((file) => file.diff.split("\n").map((text): Line => ({ level: "debug", text: `    ${text}` }))),
      ];
    case "question":
      return [info(`  question: ${event.text}`)];
    case "decision":
      return [info(`  you: ${event.decision}${event.reason ? ` (${shorten(event.reason, 200)})` : ""}`)];
    default:
      // A newer server may send more; nothing is lost in silence.
      return [{ level: "debug", text: `  ${JSON.stringify(event)}` }];
  }
}

function renderEvidence(failure: { type?: string; message?: string; frames?: { path: string; line: number }[] } | null | undefined): Line[] {
  if (!failure) return [];
  const place = failure.frames?.at(-1);
  const where = place ? ` at ${place.path}:${place.line}` : "";
  return [info(`  fails${where}: ${shorten([failure.type, failure.message].filter(Boolean).join(": "), 200)}`)];
}

/** The setting that an explanation names as the permission which a test needs, or undefined. */
export function permissionNamed(explanation: string | undefined): string | undefined {
  return /\bin VS Code (regreen\.(?:allowNetwork|readablePaths|environment))\b/.exec(explanation ?? "")?.[1];
}

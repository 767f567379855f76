/**
 * What travels between the language server and this extension beyond LSP itself.
 *
 * Server to client: `regreen/step` (every event of a run but budget and outcome), `regreen/budget`, `regreen/outcome`,
 * `regreen/queue`, and `regreen/proposal` just before the `workspace/applyEdit` that carries the same proposal.
 * Client to server: `regreen/decision`, always before the answer to that `workspace/applyEdit`.
 */

export const FIX = "regreen.fix";
export const ASK = "regreen.ask";
export const CANCEL = "regreen.cancel";
export const UNDO = "regreen.undo";
export const EXTEND = "regreen.extend";

export interface Verdict {
  target: string;
  fixed: boolean;
  progress: string;
  passed: number;
  failed: number;
  collected_before: number;
  collected_after: number;
  newly_failing: string[];
  reason: string;
  /** Which tests were left out for lack of time. */
  scope?: string;
  /** Why a pass may be no fix all the same. */
  doubt?: string;
  /** False: no test failed before, so none can say that the task is done. */
  decides?: boolean;
}

export interface ProposalFile {
  path: string;
  uri: string;
  diff: string;
  /** The whole proposed text; null when the proposal deletes the file. */
  text: string | null;
  /** Digest of the contents the proposal is based on; null for a new file. */
  base_sha256: string | null;
}

export interface Proposal {
  id: string;
  why: string;
  confidence: string;
  verdict: Verdict | null;
  /** How many other changes pass the same tests, and come when this one is rejected. */
  alternatives?: number | null;
  /** Files of it that are asked about in every mode: they decide how the project is built, checked or tested. */
  asks?: string[] | null;
  files: ProposalFile[];
}

export interface ProposalNotice {
  run: string;
  proposal: Proposal;
}

export type DecisionKind = "accept" | "reject" | "partly";

export interface Decision {
  proposal: string;
  decision: DecisionKind;
  reason: string;
  /** What the files hold now, by URI. */
  files: Record<string, string>;
}

export interface Budget {
  run: string;
  steps: number;
  max_steps: number;
  tokens: number;
  max_tokens: number;
  seconds: number;
  max_seconds: number;
  /** US dollars, where the model's server tells its prices. */
  cost?: number;
  max_cost?: number;
}

export interface Failure {
  type?: string;
  message?: string;
  frames?: { path: string; line: number; function: string; source: string }[];
}

/** One event of a run (docs: the run protocol), with the run it belongs to. */
export type RunEvent = { run: string } & (
  | { event: "started"; record?: string; target: string; model: string; seal: string; allowed?: string; approval?: string; workspace?: string }
  /** With `allowed` the person just allowed the tests more, for this run: that is what they may do now, under `seal`. */
  | { event: "note"; level: string; text: string; seal?: string; allowed?: string }
  | { event: "progress"; text: string; percent?: number | null }
  | { event: "evidence"; target: string; failure?: Failure | null; seconds?: number }
  | { event: "step"; n: number }
  | { event: "text"; delta: string }
  | { event: "call"; id?: string; name: string; arguments: Record<string, unknown> }
  | { event: "result"; id?: string; name: string; ok?: boolean; summary: string }
  | { event: "trial"; verdict: Verdict }
  | { event: "proposal"; id: string; why: string; confidence?: string; alternatives?: number; asks?: string[]; verdict?: Verdict | null; files: { path: string; diff: string }[] }
  | { event: "question"; id: string; kind: string; text: string; choices: string[] }
  | { event: "decision"; proposal: string; decision: string; reason?: string }
);

export interface Outcome {
  run: string;
  outcome: string;
  target: string;
  explanation?: string;
  summary?: string;
  confidence?: string;
  steps?: number;
  tokens?: { prompt?: number; cached?: number; generated?: number };
  /** US dollars, where the model's server tells its prices. */
  cost?: number;
  /** What mends a `setup_problem`, for a terminal. */
  command?: string;
  seconds?: { model?: number; tests?: number; person?: number; harness?: number };
  edits?: { path: string; diff: string }[];
  model?: string;
  seal?: string;
  trace?: string;
  /** The name under which the run is recorded. */
  record?: string;
  /** The best edits that were not written. */
  partial?: { path: string }[];
  /** What no test could decide: the task of a run that writes one, and the record of the run that it goes on from. */
  write_test?: { task: string; command: string; resume: string };
  /** For a target of several tests: the outcome of each, by node id. */
  tests?: Record<string, string>;
}

export interface QueueNotice {
  run: string;
  target: string;
  /** 0: it works now; else how many runs are before it. */
  position: number;
}

export interface FixArguments {
  uri: string;
  target: string;
  names?: string[];
  version?: number | null;
  /** Lets this one run change tests, as the person just allowed. */
  unlockTests?: boolean;
  /** The record of an earlier run, from whose best state this one goes on. */
  resume?: string;
}

export interface AskArguments {
  text: string;
  /** The workspace folder to work in. */
  uri: string;
  unlockTests?: boolean;
  /** The record of an earlier run, from which this one goes on. */
  resume?: string;
}

/** What a run was asked to do: enough to ask it once more. */
export type Asked = { command: typeof FIX; args: FixArguments } | { command: typeof ASK; args: AskArguments };

export interface FixAnswer {
  run: string;
  queued: boolean;
}

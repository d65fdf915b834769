import type {
  Answers,
  Artifact,
  Descriptor,
  FailureName,
  Json,
  JsonObject,
  Limits,
  LogStream,
  Question,
  RunFacts,
  RunnerType,
} from '@capstan/contracts';
import type { Redactor } from '@capstan/redact';
import type { SessionPort } from './session-port.js';

/**
 * The contract every runner type keeps: inputs in, output streamed, an abort signal obeyed, an outcome returned.
 *
 * A runner returns what it expects (a tool that fails is an outcome); what it throws is a fault of the runner.
 * When `signal` aborts (deadline or cancel), it stops the tool, leaves nothing running, and returns or throws soon after;
 * the worker knows the reason of the abort, so what is returned then does not matter.
 */
export interface Runner {
  readonly type: RunnerType;
  run(call: Call): RunOutcome | Promise<RunOutcome>;
  close?(): Promise<void>;
}

export type Call = {
  invocation_id: string;
  attempt: number;
  tenant: string;
  actor: string;
  session_id: string | null;
  descriptor: Descriptor;
  inputs: JsonObject;
  /** The span it runs in, as W3C Trace Context writes it, to be passed on; absent where traces are not sent. */
  traceparent?: string | undefined;
  labels: Readonly<Record<string, string>>;
  limits: Limits;
  signal: AbortSignal;
  /**
   * Takes secrets out. A runner applies it to what it logs, and to what it cuts before it cuts; the outcome as a whole
   * is redacted by the worker.
   */
  redact: Redactor;
  /** Live output, already redacted. */
  log(stream: LogStream, text: string): void;
  /** Keeps a file with the result; the outcome's `artifacts` names it. */
  keep(file: KeptFile): Promise<Artifact>;
  /**
   * The value behind `secret://name`, to be sent to these hosts and no others (`*`: anywhere). From then on `redact` takes it
   * out. Throws a Failure for a name that is not known, or not for this tool or these hosts.
   */
  secret(name: string, hosts: readonly string[]): Promise<string>;
  /**
   * Keeps what the next attempt can go on from. `repeatable`: going on from it has no second effect, so that a lost worker
   * leaves nothing for a person to find out.
   */
  checkpoint(state: Json, repeatable: boolean): Promise<void>;
  /** What an earlier attempt left, with the answers to what it asked; null when there is nothing. */
  resumed(): Promise<Resumed | null>;
  /** Asks while the tool waits. Null when nobody answers before the deadline, or somebody declines. */
  ask(question: Question): Promise<Answers | null>;
  /** The files and notes of the call's session; null when it has none. */
  readonly session: SessionPort | null;
};

export type Resumed = { state: Json; answers: Answers | null };

export type KeptFile = { name: string; media_type: string; content: Uint8Array | AsyncIterable<Uint8Array> };

export type RunOutcome = ToolSuccess | ToolFailure;

type Outcome = { exit_code?: number; truncated?: boolean; artifacts?: Artifact[]; facts?: RunFacts };
export type ToolSuccess = Outcome & { success: true; payload: Json };
export type ToolFailure = Outcome & {
  success: false;
  error: string;
  /** OUTCOME_UNKNOWN: it may have taken effect. Unless the tool is idempotent, the invocation ends `ambiguous`. */
  kind: FailureName;
  /** Whether the same call may succeed when it is tried again. */
  retryable: boolean;
  /** Of a refusal: the rule behind it, as policies name it. */
  rule?: string;
  payload?: Json;
  /** It has not ended: it asks this, and goes on in another attempt once it is answered. */
  asks?: Question;
};

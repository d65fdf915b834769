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
 * The contract of every runner type: it takes inputs, streams output, obeys an abort signal and returns an outcome.
 *
 * A runner returns expected outcomes, including the failure of a tool. An exception is a fault of the runner.
 * When `signal` aborts (deadline or cancel), it stops the tool, leaves nothing running, and returns or throws soon after.
 * The worker knows the reason for the abort, so it does not matter what is returned then.
 */
export interface Runner {
  readonly type: RunnerType;
  run(call: Call): RunOutcome | Promise<RunOutcome>;
  /** Whether the task of a held call still asks the question that its last attempt ended with. `state` is that attempt's checkpoint. */
  stillAsks?(call: WaitingCall, state: Json): Promise<boolean>;
  /** Cancels the task of a held call that nobody wants any more. */
  abandon?(call: WaitingCall, state: Json): Promise<void>;
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
  /** The span that it runs in, as W3C Trace Context, to be passed on to the tool. Absent if there is no trace. */
  traceparent?: string | undefined;
  labels: Readonly<Record<string, string>>;
  limits: Limits;
  signal: AbortSignal;
  /**
   * Must be called right before an effect can leave this process: before a request is written, a program started or a transaction
   * committed. If the worker may have lost the call in the meantime, because it was frozen or cut off, `signal` aborts.
   */
  beforeEffect(): void;
  /**
   * Removes secrets. A runner applies it to what it logs, and to what it truncates, before it truncates. The worker redacts the
   * outcome as a whole.
   */
  redact: Redactor;
  /** Live output, already redacted. */
  log(stream: LogStream, text: string): void;
  /** Stores a file with the result. The outcome's `artifacts` must list it. */
  keep(file: KeptFile): Promise<Artifact>;
  /**
   * The value of `secret://name`, to be sent only to these hosts (`*`: anywhere). From then on `redact` removes it. Throws a Failure
   * if the name is unknown, or the secret is not for this tool or these hosts.
   */
  secret(name: string, hosts: readonly string[]): Promise<string>;
  /**
   * Stores state that the next attempt can resume from. `repeatable`: resuming has no second effect, so if the worker is lost, the
   * call is not ambiguous. `look_ms`: the task continues elsewhere while the call is held, and workers check it this often
   * (`stillAsks`).
   */
  checkpoint(state: Json, repeatable: boolean, look_ms?: number): Promise<void>;
  /** The checkpoint of an earlier attempt, with the answers to its questions. Null if there is none. */
  resumed(): Promise<Resumed | null>;
  /** Asks a question while the tool waits. Null if nobody answers before the deadline, somebody declines, or `signal` withdraws it. */
  ask(question: Question, signal?: AbortSignal): Promise<Answers | null>;
  /** The files and notes of the call's session. Null if it has no session. */
  readonly session: SessionPort | null;
};

/** A held call, for which no attempt is running. */
export type WaitingCall = Pick<Call, 'tenant' | 'actor' | 'descriptor' | 'limits' | 'signal' | 'secret'>;

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
  /** Whether a retry of the same call may succeed. */
  retryable: boolean;
  /** If it is a refusal: the rule that refused it, as policies name it. */
  rule?: string;
  payload?: Json;
  /** The call has not ended: it asks this question, and continues in another attempt once it is answered. */
  asks?: Question;
};

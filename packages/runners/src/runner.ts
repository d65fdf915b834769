import type { Descriptor, FailureName, Json, JsonObject, Limits, LogStream, RunnerType } from '@capstan/contracts';
import type { Redactor } from './redact/create-redactor.js';

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
  session_id: string | null;
  descriptor: Descriptor;
  inputs: JsonObject;
  limits: Limits;
  signal: AbortSignal;
  /**
   * Takes secrets out. A runner applies it to what it logs, and to what it cuts before it cuts; the outcome as a whole
   * is redacted by the worker.
   */
  redact: Redactor;
  /** Live output, already redacted. */
  log(stream: LogStream, text: string): void;
};

export type RunOutcome = ToolSuccess | ToolFailure;

type Outcome = { exit_code?: number; truncated?: boolean };
export type ToolSuccess = Outcome & { success: true; payload: Json };
export type ToolFailure = Outcome & {
  success: false;
  error: string;
  kind: FailureName;
  /** Whether the same call may succeed when it is tried again. */
  retryable: boolean;
  payload?: Json;
};

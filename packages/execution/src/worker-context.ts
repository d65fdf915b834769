import type { Backbone } from '@capstan/backbone';
import type { Catalog } from '@capstan/catalog';
import type { Artifact, BoundHashes, RunnerType } from '@capstan/contracts';
import type { Redactor } from '@capstan/redact';
import type { KeptFile, Runner, SessionPort } from '@capstan/runners';
import type { AuditEvent } from '@capstan/store/audit';
import type { Claimed, Settlement } from '@capstan/store/claim';
import type { ApprovalUse } from '@capstan/store/hold';
import type { LogWriter } from './log-writer.js';
import type { WorkerMetrics } from './metrics.js';
import type { Policies } from './policies.js';
import type { QuestionPorts } from './question-ports.js';
import type { Running } from './running.js';

/** The part of a call that access to secrets depends on. */
type SecretUser = Pick<Claimed, 'tenant' | 'actor' | 'invocation_id' | 'attempt' | 'tool_id'>;

/** Everything that the pipeline depends on. */
export type WorkerContext = {
  catalog: Pick<Catalog, 'get' | 'find'>;
  rules: Pick<Backbone['rules'], 'approvedSpecs' | 'refresh'>;
  runners: ReadonlyMap<RunnerType, Runner>;
  policies: Policies;
  redactor: Redactor;
  running: Map<string, Running>;
  metrics: Omit<WorkerMetrics, 'registry'>;
  /** False if the lease may have expired, or the worker is shutting down. */
  mayBegin(): boolean;
  /** Whether the lease is certainly still valid, so that the calls it has started are still its own. */
  holdsLease(): boolean;
  /** Checks and uses the approval of a held call. */
  approval(claimed: Claimed, about_to_run: BoundHashes): Promise<ApprovalUse>;
  /** Writes the audit event that calls of HIGH and CRITICAL risk need before they start. */
  audit(event: AuditEvent): Promise<void>;
  settle(running: Running, settlement: Settlement): void;
  /** Throws `NotStarted` if another worker has exactly the version of the tool that was called. Used when the version here does not fit. */
  leaveToOthers?(claimed: Claimed): Promise<void>;
  logs: LogWriter;
  keep(claimed: Claimed, file: KeptFile): Promise<Artifact>;
  secret(call: SecretUser, name: string, hosts: readonly string[]): Promise<string>;
  session(claimed: Claimed): SessionPort | null;
  questions: QuestionPorts;
  log: Backbone['log'];
};

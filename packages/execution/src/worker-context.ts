import type { Backbone } from '@capstan/backbone';
import type { Catalog } from '@capstan/catalog';
import type { Artifact, BoundHashes, RunnerType } from '@capstan/contracts';
import type { Redactor } from '@capstan/redact';
import type { KeptFile, Runner, SessionPort } from '@capstan/runners';
import type { ApprovalUse, AuditEvent, Claimed, Settlement } from '@capstan/store';
import type { LogWriter } from './log-writer.js';
import type { WorkerMetrics } from './metrics.js';
import type { Policies } from './policies.js';
import type { QuestionPorts } from './question-ports.js';
import type { Running } from './running.js';

/** What the pipeline works with. */
export type WorkerContext = {
  catalog: Pick<Catalog, 'get' | 'find'>;
  rules: Pick<Backbone['rules'], 'approvedSpecs' | 'refresh'>;
  runners: ReadonlyMap<RunnerType, Runner>;
  policies: Policies;
  redactor: Redactor;
  running: Map<string, Running>;
  metrics: Omit<WorkerMetrics, 'registry'>;
  /** Not when the lease may have ended, or the worker is about to. */
  mayBegin(): boolean;
  /** For what people had to agree to. */
  approval(claimed: Claimed, about_to_run: BoundHashes): Promise<ApprovalUse>;
  /** Writes an event before the call of a risk that asks for it is started. */
  audit(event: AuditEvent): Promise<void>;
  settle(running: Running, settlement: Settlement): void;
  /** Throws `NotStarted` where another worker has the very tool that was called, and the one at hand will not do. */
  leaveToOthers?(claimed: Claimed): Promise<void>;
  logs: LogWriter;
  keep(claimed: Claimed, file: KeptFile): Promise<Artifact>;
  secret(claimed: Claimed, name: string, hosts: readonly string[]): Promise<string>;
  session(claimed: Claimed): SessionPort | null;
  questions: QuestionPorts;
  log: Backbone['log'];
};

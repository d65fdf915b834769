import type { InvocationStatus, QueueName, Risk, Role, RunnerType } from '@capstan/contracts';
import { choice, choices } from './choice.js';

/** The enums of the contracts that options take, repeated here because importing the schemas would load zod at every start. */
const STATUS: Record<InvocationStatus, true> = {
  denied: true,
  held: true,
  deferred: true,
  queued: true,
  running: true,
  succeeded: true,
  failed: true,
  timed_out: true,
  canceled: true,
  ambiguous: true,
  rejected: true,
  expired: true,
};
const QUEUE: Record<Exclude<RunnerType, 'app'>, true> = {
  exec: true,
  analyze: true,
  browser: true,
  api: true,
  mcp: true,
  file: true,
  db: true,
  builtin: true,
};
const RUNNER: Record<RunnerType, true> = { ...QUEUE, app: true };
const ROLE: Record<Role, true> = {
  submit: true,
  operate: true,
  audit: true,
  admin: true,
  scale: true,
  serve: true,
};

export const RISKS = ['LOW', 'MED', 'HIGH', 'CRITICAL'] as const satisfies Risk[];

export const parseStatuses = choices(STATUS);
export const parseRunners = choices(RUNNER);
export const parseWorkerRunners = choices(QUEUE);
/** A runner type, or the queue of a pool. */
export const parseQueue = (text: string): QueueName => {
  const pool = /^app\/(.+)$/.exec(text)?.[1];
  return pool === undefined ? choice(QUEUE)(text) : `app/${pool}`;
};
export const parseRoles = choices(ROLE);
export const parseOutcome = choice({ succeeded: true, failed: true });
export const parseMode = choice({ execution: true, planning: true });

import type { RunnerType } from '@capstan/contracts';

/** The compiler holds this to the contract: a type that is missing here is an error. */
const ALL: Record<RunnerType, true> = {
  exec: true,
  api: true,
  browser: true,
  analyze: true,
  mcp: true,
  file: true,
  db: true,
  builtin: true,
  app: true,
};

export const RUNNERS = Object.keys(ALL) as readonly RunnerType[];

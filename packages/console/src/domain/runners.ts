import type { RunnerType } from '@capstan/contracts';

/** The compiler checks this against the contract, so a missing type is an error. */
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

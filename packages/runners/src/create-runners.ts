import type { RunnerType } from '@capstan/contracts';
import { createBuiltinRunner } from './builtin/create-builtin-runner.js';
import { createExecRunner, type ExecRunnerOptions } from './exec/create-exec-runner.js';
import type { Runner } from './runner.js';

export type RunnersOptions = ExecRunnerOptions & { clock?: () => Date };

/** The one place where runner types are listed. None of them starts or opens anything before its first run. */
export const createRunners = ({ work_dir, env, clock }: RunnersOptions): Map<RunnerType, Runner> => {
  const runners = [createBuiltinRunner(clock && { clock }), createExecRunner({ work_dir, ...(env && { env }) })];
  return new Map(runners.map((runner) => [runner.type, runner]));
};

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json, JsonObject } from '@capstan/contracts';
import { createRedactor } from '@capstan/redact';
import type { SandboxLevel } from '@capstan/sandbox';
import { worksHere } from '@capstan/sandbox/testing';
import { afterAll, beforeAll, describe } from 'vitest';
import type { Call, Runner, RunOutcome } from '../../runner.js';
import { testCall, testDescriptor } from '../../testing/test-call.js';
import { createExecRunner } from '../create-exec-runner.js';

/** A secret of the worker, which it therefore redacts. */
export const SECRET = 'correct-horse-battery-staple';
export const PATH = '/usr/local/bin:/usr/bin:/bin';
const SHELL_RUN = testDescriptor({ tool_id: 'shell.run', runner: 'exec', risk: 'HIGH', side_effects: ['system.exec'] });

type Options = Partial<Call> & { max_output_bytes?: number };
type RunOptions = Options & { stdin?: string };

export interface TestExec {
  readonly level: SandboxLevel;
  /** The parent of the directories of runs. */
  readonly work_dir: string;
  readonly runner: Runner;
  run(cmd: Json, options?: RunOptions): Promise<RunOutcome>;
  sh(script: string, options?: RunOptions): Promise<RunOutcome>;
  node(script: string, options?: RunOptions): Promise<RunOutcome>;
  /** Files left behind by runs, except empty directories, which are reused. */
  leftovers(): Promise<string[]>;
}

/** Runs the same tests on each sandbox level that works here, with a runner restricted to that level. */
export function onEachLevel(tests: (exec: TestExec) => void): void {
  describe.each(['bubblewrap', 'namespaces', 'process'] as const)('with containment by %s', (level) => {
    const { works, name } = worksHere(level);
    describe.skipIf(!works)(name, () => tests(useExec(level)));
  });
}

export const callOf = (inputs: JsonObject, { max_output_bytes = 1_000_000, ...overrides }: Options = {}): Call =>
  testCall(SHELL_RUN, {
    inputs,
    limits: { timeout_ms: 30_000, max_output_bytes, shell: true, sandbox: 'preferred' },
    redact: createRedactor({ values: [SECRET] }),
    ...overrides,
  });

export const stdoutOf = (outcome: RunOutcome): string => JSON.parse(JSON.stringify(outcome)).payload.stdout;

function useExec(level: SandboxLevel): TestExec {
  let work_dir: string;
  let runner: Runner;
  beforeAll(async () => {
    work_dir = await mkdtemp(join(tmpdir(), 'exec-runner-'));
    runner = createExecRunner({
      work_dir,
      env: { PATH, HOME: '/nowhere', LANG: 'C.UTF-8', AWS_SECRET_ACCESS_KEY: SECRET },
      sandbox_levels: [level],
    });
  });
  afterAll(async () => {
    await runner.close?.();
    await rm(work_dir, { recursive: true, force: true });
  });

  const run = async (cmd: Json, { stdin, ...call }: RunOptions = {}): Promise<RunOutcome> =>
    runner.run(callOf(stdin === undefined ? { cmd } : { cmd, stdin }, call));
  return {
    level,
    get work_dir() {
      return work_dir;
    },
    get runner() {
      return runner;
    },
    run,
    sh: (script, options) => run(['sh', '-c', script], options),
    node: (script, options) => run(['node', '-e', script], options),
    leftovers: async () =>
      (await readdir(work_dir, { recursive: true })).filter((each) => /run-\d+\/(?!artifacts$)/.test(each)),
  };
}

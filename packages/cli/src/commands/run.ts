import { resolve } from 'node:path';
import type { JsonObject, RunSubmissionInput } from '@capstan/contracts';
import { type Command, InvalidArgumentError } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { integer } from '../parse/integer.js';
import { readValue } from '../parse/value.js';
import { readTextFile } from '../read-text-file.js';
import { reportError } from '../report-error.js';
import { followRun } from '../run/follow-run.js';
import { printDryRun } from '../run/print-dry-run.js';
import { nextChange } from '../run/watch-files.js';
import type { Session } from '../session.js';

type Options = {
  input?: JsonObject;
  policy?: string;
  maxParallel?: number;
  dryRun?: boolean;
  watch?: boolean;
  wait: boolean;
};

const MAX_PARALLEL = 10_000;

export const addRun: AddCommand = (program, cli) => {
  program
    .command('run')
    .description('run a plan, follow its steps and print their results')
    .argument('<plan>', 'YAML or JSON file; - for stdin')
    .option('-i, --input <name=value>', 'input of the plan, as JSON or text (repeatable)', parseInput)
    .option('--policy <file>', 'policy to use instead of the current one')
    .option('--max-parallel <n>', 'maximum number of steps at the same time', integer(1, MAX_PARALLEL))
    .option('--dry-run', 'show the decision about each step without running any')
    .option('--watch', 'run again when the plan changes, until Ctrl-C')
    .option('--no-wait', 'print the run id without waiting')
    .addHelpText(
      'after',
      `
Examples:
  $ capstan run release-notes.yaml --input repo=https://example.com/
  $ capstan run plan.yaml --policy strict.yaml --dry-run
  $ capstan run plan.yaml > answer.txt            # only the result of the last step
  $ capstan run plan.yaml --json > result.json    # the run with all steps and results`,
    )
    .action((plan: string, options: Options, command: Command) =>
      cli.run(command, (session) =>
        options.watch ? runAndWatch(session, plan, options) : runOnce(session, plan, options),
      ),
    );
};

const runOnce = async (session: Session, plan: string, options: Options): Promise<ExitCode> => {
  const submission: RunSubmissionInput = {
    plan: await readTextFile(session, plan),
    ...(options.policy === undefined ? {} : { policy: await readTextFile(session, options.policy) }),
    ...(options.input === undefined ? {} : { inputs: options.input }),
    ...(options.maxParallel === undefined ? {} : { max_parallel: options.maxParallel }),
  };
  const client = await session.client();
  const { signal } = session;
  if (options.dryRun) return printDryRun(session, await client.runs.dryRun(submission, { signal }));
  const accepted = await client.runs.submit(submission, { signal });
  if (options.wait) return followRun(session, accepted.run_id, { outputs: true });
  if (session.json) await session.printJson(accepted);
  else await session.out.line(accepted.run_id);
  return EXIT.success;
};

/** Reports errors and keeps watching, so that they can be fixed. */
const runAndWatch = async (session: Session, plan: string, options: Options): Promise<ExitCode> => {
  const { err, signal } = session;
  const files = [plan, ...(options.policy === undefined ? [] : [options.policy])].map((file) =>
    resolve(session.cwd, file),
  );
  for (;;) {
    const changed = nextChange(files, signal);
    await runOnce(session, plan, options).catch((error: unknown) => {
      if (signal.aborted) throw error;
      return reportError(error, session);
    });
    await err.line(err.colors.dim(`Watching ${plan} for changes.`));
    await changed;
    signal.throwIfAborted();
  }
};

/** `n=5` is a number, `n="5"` and `n=five` are strings. */
const parseInput = (text: string, before: JsonObject = {}): JsonObject => {
  const equals = text.indexOf('=');
  if (equals < 1) throw new InvalidArgumentError('Expected name=value, like repo=https://example.com/.');
  return { ...before, [text.slice(0, equals)]: readValue(text.slice(equals + 1)) };
};

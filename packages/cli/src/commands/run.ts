import { resolve } from 'node:path';
import type { JsonObject, RunSubmissionInput } from '@capstan/contracts';
import { type Command, InvalidArgumentError } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { integer } from '../parse/integer.js';
import { readValue } from '../parse/value.js';
import { readDocumentFile } from '../read-document-file.js';
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
    .description('run a plan, watch its steps and print what they answer; in a pipe, what the last one answers')
    .argument('<plan>', 'a file of YAML or JSON; - for stdin')
    .option('-i, --input <name=value>', 'an input of the plan; JSON, or else text (may be given again)', parseInput)
    .option('--policy <file>', 'the policy that decides, in place of the one in force')
    .option('--max-parallel <n>', 'how many steps at a time', integer(1, MAX_PARALLEL))
    .option('--dry-run', 'show what would be decided about each step, and run none')
    .option('--watch', 'do it again whenever the plan changes, until Ctrl-C')
    .option('--no-wait', 'print the run id and do not wait')
    .addHelpText(
      'after',
      `
Examples:
  $ capstan run release-notes.yaml --input repo=https://example.com/
  $ capstan run plan.yaml --policy strict.yaml --dry-run
  $ capstan run plan.yaml > answer.txt            what the last step answers, and nothing else
  $ capstan run plan.yaml --json > result.json    the run with all of its steps and their results`,
    )
    .action((plan: string, options: Options, command: Command) =>
      cli.run(command, (session) => (options.watch ? again(session, plan, options) : once(session, plan, options))),
    );
};

const once = async (session: Session, plan: string, options: Options): Promise<ExitCode> => {
  const submission: RunSubmissionInput = {
    plan: await readDocumentFile(session, plan),
    ...(options.policy === undefined ? {} : { policy: await readDocumentFile(session, options.policy) }),
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

/** A mistake in the plan is shown and waited for to be mended. */
const again = async (session: Session, plan: string, options: Options): Promise<ExitCode> => {
  const { err, signal } = session;
  const files = [plan, ...(options.policy === undefined ? [] : [options.policy])].map((file) =>
    resolve(session.cwd, file),
  );
  for (;;) {
    const changed = nextChange(files, signal);
    await once(session, plan, options).catch((error: unknown) => {
      if (signal.aborted) throw error;
      return reportError(error, session);
    });
    await err.line(err.colors.dim(`Waiting for ${plan} to change.`));
    await changed;
    signal.throwIfAborted();
  }
};

/** `n=5` is a number, `n="5"` and `n=five` are texts. */
const parseInput = (text: string, before: JsonObject = {}): JsonObject => {
  const equals = text.indexOf('=');
  if (equals < 1) throw new InvalidArgumentError('It is a name and a value, like repo=https://example.com/.');
  return { ...before, [text.slice(0, equals)]: readValue(text.slice(equals + 1)) };
};

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Invocation, JsonObject, SubmissionInput } from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, EXIT_OF_EFFECT, type ExitCode, exitCodeOf } from '../exit-code.js';
import { formatExplanation } from '../format/explanation.js';
import { parseDuration } from '../parse/duration.js';
import { readInputs } from '../parse/inputs.js';
import { integer } from '../parse/integer.js';
import { parseLabel } from '../parse/label.js';
import { isPair, readPairs } from '../parse/pairs.js';
import { parseMode } from '../parse/words.js';
import { printOutcome } from '../print-outcome.js';
import { startSpinner } from '../progress/spinner.js';
import { readStdin } from '../read-stdin.js';
import type { Session } from '../session.js';

type Options = {
  timeout?: number;
  priority?: number;
  label?: Record<string, string>;
  idempotencyKey?: string;
  delay?: number;
  maxAttempts?: number;
  session?: string;
  mode?: 'execution' | 'planning';
  validate?: true;
  /** Milliseconds, or false for --no-wait. */
  wait?: number | false;
};

const MAX_PRIORITY = 1_000_000;
/** Short, so that a terminal soon has an id and a status to show; most tools are done by then. */
const FIRST_WAIT_S = 3;
/** A grant releases what it is for in about a second; what is held for longer waits for a person. */
const HELD_WAIT_S = 2;

export const addInvoke: AddCommand = (program, cli) => {
  program
    .command('invoke')
    .description('run a tool and print what it answers')
    .argument('<tool_id>', 'which tool: see `capstan tools`')
    .argument('[inputs...]', 'name=value pairs, or a JSON object, @file, or - for stdin')
    .option('--timeout <time>', 'how long the tool may run: 500ms, 30s, 5m', parseDuration)
    .option('--priority <n>', 'a lower number runs first', integer(-MAX_PRIORITY, MAX_PRIORITY))
    .option('-l, --label <key=value>', 'a label to find it by (may be given again)', parseLabel)
    .option('--idempotency-key <key>', 'the same key answers the same invocation')
    .option('--delay <time>', 'start it so much later', parseDuration)
    .option('--max-attempts <n>', 'how often to try', integer(1, 100))
    .option('--session <id>', 'the session it belongs to')
    .option('--mode <mode>', 'execution, or planning (nothing with side effects)', parseMode)
    .option('--wait <time>', 'stop waiting after so long; the invocation goes on', parseDuration)
    .option('--no-wait', 'print the invocation id and do not wait')
    .option('--validate', 'check the inputs, policy and quotas; nothing runs and nothing is recorded')
    .addHelpText(
      'after',
      `
Examples:
  $ capstan invoke cap:test_math:add a=2 b=3
  $ capstan invoke cap:test_math:add '{"a": 2, "b": 3}'
  $ capstan invoke ext:text.tools:wc @inputs.json --timeout 30s --label team=search
  $ echo '{"text": "hello"}' | capstan invoke ext:text.tools:wc - --json`,
    )
    .action((tool_id: string, inputs: string[], options: Options, command: Command) =>
      cli.run(command, async (session) => {
        const submission = await toSubmission(session, tool_id, inputs, options);
        return options.validate ? validate(session, submission) : invoke(session, submission, options.wait);
      }),
    );
};

const toSubmission = async (
  session: Session,
  tool_id: string,
  inputs: readonly string[],
  options: Options,
): Promise<SubmissionInput> => ({
  tool_id,
  inputs: await inputsOf(session, tool_id, inputs),
  timeout_ms: options.timeout,
  priority: options.priority,
  labels: options.label,
  idempotency_key: options.idempotencyKey,
  delay_ms: options.delay,
  max_attempts: options.maxAttempts,
  session_id: options.session,
  mode: options.mode,
});

const inputsOf = async (session: Session, tool_id: string, words: readonly string[]): Promise<JsonObject> => {
  const [first] = words;
  if (first !== undefined && (words.length > 1 || isPair(first)))
    return readPairs(words, await schemaOf(session, tool_id));
  return readInputs(first, {
    readStdin: () => readStdin(session),
    readFile: (path) => readFile(resolve(session.cwd, path), 'utf8'),
  });
};

/** A tool that is not there, or that this key may not look up, is refused when it is called. */
const schemaOf = async (session: Session, tool_id: string): Promise<JsonObject> => {
  const { CapstanError } = await import('@capstan/client');
  const client = await session.client();
  try {
    return (await client.tools.get(tool_id)).input_schema;
  } catch (error) {
    if (error instanceof CapstanError && (error.status === 404 || error.status === 403)) return {};
    throw error;
  }
};

const validate = async (session: Session, submission: SubmissionInput): Promise<ExitCode> => {
  const client = await session.client();
  const validation = await client.validate(submission, { signal: session.signal });
  const { tool_id, decision, suggestion, warnings } = validation;
  if (session.json) await session.printJson(validation);
  else {
    await session.out.line(formatExplanation(tool_id, { ...decision, rules: [], suggestion }, session.out).join('\n'));
    for (const warning of warnings) await session.err.line(session.err.colors.yellow(visibleLine(warning)));
  }
  return EXIT_OF_EFFECT[decision.effect];
};

const invoke = async (session: Session, submission: SubmissionInput, wait?: number | false): Promise<ExitCode> => {
  if (wait === false) {
    const client = await session.client();
    return printAccepted(session, await client.submit(submission, { signal: session.signal }));
  }
  const spinner = startSpinner(session.err, submission.tool_id);
  let known: Invocation | null = null;
  const watch = (invocation: Invocation, status = invocation.status): void => {
    known = invocation;
    spinner.say(`${invocation.invocation_id} ${status}`);
  };
  try {
    const invocation = await submitAndWait(session, submission, wait, watch);
    await spinner.stop();
    return await printOutcome(session, invocation);
  } catch (error) {
    await spinner.stop();
    if (session.signal.aborted) await sayItGoesOn(session, known);
    throw error;
  }
};

const submitAndWait = async (
  session: Session,
  submission: SubmissionInput,
  limit_ms: number | undefined,
  watch: (invocation: Invocation, status?: Invocation['status']) => void,
): Promise<Invocation> => {
  const { isTerminal } = await import('@capstan/client');
  const client = await session.client();
  const { signal } = session;
  const started = performance.now();
  const limit_s = limit_ms === undefined ? Number.POSITIVE_INFINITY : limit_ms / 1000;
  const until = (status: Invocation['status']): boolean => isTerminal(status) || status === 'held';
  let invocation = await client.submit(submission, { wait_s: Math.min(limit_s, FIRST_WAIT_S), until, signal });
  for (;;) {
    const left_s = limit_s - (performance.now() - started) / 1000;
    if (isTerminal(invocation.status) || left_s <= 0) return invocation;
    watch(invocation);
    const { invocation_id, status: before } = invocation;
    invocation = await client.wait(invocation_id, {
      signal,
      until: before === 'held' ? (status) => status !== 'held' : until,
      on_status: (status) => watch(invocation, status),
      timeout_s: before === 'held' ? Math.min(left_s, HELD_WAIT_S) : Number.isFinite(left_s) ? left_s : undefined,
    });
    // It waits for a person, which no command line should.
    if (before === 'held' && invocation.status === 'held') return invocation;
  }
};

const printAccepted = async (session: Session, invocation: Invocation): Promise<ExitCode> => {
  if (session.json) await session.printJson(invocation);
  else await session.out.line(invocation.invocation_id);
  return invocation.status === 'held' || invocation.status === 'denied' ? exitCodeOf(invocation.status) : EXIT.success;
};

const sayItGoesOn = async ({ err }: Session, known: Invocation | null): Promise<void> => {
  const next =
    known === null
      ? 'If it was taken it goes on: find it with `capstan list`.'
      : `It goes on: see \`capstan show ${known.invocation_id}\`.`;
  await err.line(err.colors.dim(`Not waiting any more. ${next}`));
};

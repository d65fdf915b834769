import type { Invocation, InvocationDetail, SubmissionInput } from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, EXIT_OF_EFFECT, type ExitCode, exitCodeOf } from '../exit-code.js';
import { formatExplanation } from '../format/explanation.js';
import { parseDuration } from '../parse/duration.js';
import { integer } from '../parse/integer.js';
import { parseLabel } from '../parse/label.js';
import { parseMode } from '../parse/words.js';
import { formatWhy, printOutcome } from '../print-outcome.js';
import { startSpinner } from '../progress/spinner.js';
import { readToolInputs } from '../read-tool-inputs.js';
import { resolveId } from '../resolve-id.js';
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
/** Short, so that a terminal soon has an id and a status to show. Most tools have ended by then. */
const FIRST_WAIT_S = 3;
/** A grant releases a call within about a second. A call held for longer waits for a person. */
const HELD_WAIT_S = 2;
/** How often to check why a queued or deferred call has not started. */
const CHECK_S = 10;

export const addInvoke: AddCommand = (program, cli) => {
  program
    .command('invoke')
    .description('run a tool and print its result')
    .argument('<tool_id>', 'tool id, from `capstan tools`; or an invocation id (inv_…) for a new call like it')
    .argument(
      '[inputs...]',
      'name=value pairs, a JSON object, @file, or - for stdin; for a call like another, only what changes',
    )
    .option('--timeout <time>', 'how long the tool may run: 500ms, 30s, 5m', parseDuration)
    .option('--priority <n>', 'lower numbers run first', integer(-MAX_PRIORITY, MAX_PRIORITY))
    .option('-l, --label <key=value>', 'label to find it by (repeatable)', parseLabel)
    .option('--idempotency-key <key>', 'the same key returns the same invocation')
    .option('--delay <time>', 'start after this delay', parseDuration)
    .option('--max-attempts <n>', 'maximum number of attempts', integer(1, 100))
    .option('--session <id>', 'session of the invocation')
    .option('--mode <mode>', 'execution, or planning (no side effects)', parseMode)
    .option('--wait <time>', 'stop waiting after this time; the invocation continues', parseDuration)
    .option('--no-wait', 'print the invocation id without waiting')
    .option('--validate', 'check inputs, policy and quotas without running the tool')
    .addHelpText(
      'after',
      `
Examples:
  $ capstan invoke cap:test_math:add a=2 b=3
  $ capstan invoke cap:test_math:add '{"a": 2, "b": 3}'
  $ capstan invoke inv_V1StGXR8_Z5jdHi6B a=3
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
  what: string,
  words: readonly string[],
  options: Options,
): Promise<SubmissionInput> => {
  if (!what.startsWith('inv_'))
    return { tool_id: what, inputs: await readToolInputs(session, what, words), ...settingsOf(options) };
  const client = await session.client();
  const { tool_id, inputs, labels, session_id } = await client.get(await resolveId(session, what));
  const changes = words.length > 0 ? await readToolInputs(session, tool_id, words) : {};
  const { labels: added, session_id: other = session_id ?? undefined, ...settings } = settingsOf(options);
  return {
    tool_id,
    inputs: { ...inputs, ...changes },
    ...settings,
    labels: { ...labels, ...added },
    session_id: other,
  };
};

const settingsOf = (options: Options): Omit<SubmissionInput, 'tool_id' | 'inputs'> => ({
  timeout_ms: options.timeout,
  priority: options.priority,
  labels: options.label,
  idempotency_key: options.idempotencyKey,
  delay_ms: options.delay,
  max_attempts: options.maxAttempts,
  session_id: options.session,
  mode: options.mode,
});

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
  let said: string | null = null;
  const watch = async (invocation: Invocation | InvocationDetail, status = invocation.status): Promise<void> => {
    known = invocation;
    const waiting = status === invocation.status && 'waiting' in invocation ? invocation.waiting : null;
    spinner.say([invocation.invocation_id, status, waiting?.detail].filter(Boolean).join(' '));
    if (waiting === null || waiting.cause === 'hold' || waiting.detail === said) return;
    said = waiting.detail;
    await spinner.tell(formatWhy(status, waiting, session.err));
  };
  try {
    const invocation = await submitAndWait(session, submission, wait, watch);
    await spinner.stop();
    return await printOutcome(session, invocation);
  } catch (error) {
    await spinner.stop();
    if (session.signal.aborted) await sayItContinues(session, known);
    throw error;
  }
};

const submitAndWait = async (
  session: Session,
  submission: SubmissionInput,
  limit_ms: number | undefined,
  watch: (invocation: Invocation | InvocationDetail, status?: Invocation['status']) => Promise<void>,
): Promise<Invocation> => {
  const { isTerminal } = await import('@capstan/client');
  const client = await session.client();
  const { signal } = session;
  const started = performance.now();
  const limit_s = limit_ms === undefined ? Number.POSITIVE_INFINITY : limit_ms / 1000;
  const until = (status: Invocation['status']): boolean => isTerminal(status) || status === 'held';
  let invocation: Invocation = await client.submit(submission, {
    wait_s: Math.min(limit_s, FIRST_WAIT_S),
    until,
    signal,
  });
  for (;;) {
    const left_s = limit_s - (performance.now() - started) / 1000;
    if (isTerminal(invocation.status)) return invocation;
    if (left_s <= 0) return isIdle(invocation.status) ? client.get(invocation.invocation_id, { signal }) : invocation;
    const { invocation_id, status: before } = invocation;
    if (isIdle(before)) invocation = await client.get(invocation_id, { signal });
    if (isTerminal(invocation.status)) return invocation;
    await watch(invocation);
    const check_s = before === 'held' ? HELD_WAIT_S : isIdle(before) ? CHECK_S : Number.POSITIVE_INFINITY;
    const timeout_s = Math.min(left_s, check_s);
    invocation = await client.wait(invocation_id, {
      signal,
      until: before === 'held' ? (status) => status !== 'held' : until,
      on_status: (status) => void watch(invocation, status),
      timeout_s: Number.isFinite(timeout_s) ? timeout_s : undefined,
    });
    // A command line should not block until a person decides.
    if (before === 'held' && invocation.status === 'held') return invocation;
  }
};

const isIdle = (status: Invocation['status']): boolean => status === 'queued' || status === 'deferred';

const printAccepted = async (session: Session, invocation: Invocation): Promise<ExitCode> => {
  if (session.json) await session.printJson(invocation);
  else await session.out.line(invocation.invocation_id);
  return invocation.status === 'held' || invocation.status === 'denied' ? exitCodeOf(invocation.status) : EXIT.success;
};

const sayItContinues = async ({ err }: Session, known: Invocation | null): Promise<void> => {
  const next =
    known === null
      ? 'If the gateway accepted the invocation, it continues: find it with `capstan list`.'
      : `The invocation continues: \`capstan show ${known.invocation_id}\`.`;
  await err.line(err.colors.dim(`Stopped waiting. ${next}`));
};

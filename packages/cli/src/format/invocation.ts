import type { Attempt, Decision, InvocationDetail, Result } from '@capstan/contracts';
import { visibleJson, visibleLine } from '@capstan/contracts/visible-text';
import type { Output } from '../output.js';
import { formatDuration } from './duration.js';
import { formatFields, indent } from './fields.js';
import { holdInALine } from './hold.js';
import { renderPayload } from './payload.js';
import { absoluteTime, relativeTime } from './relative-time.js';
import { formatStatus } from './status.js';
import { formatTable } from './table.js';

/** Formats everything about an invocation. */
export const formatInvocation = (invocation: InvocationDetail, out: Output, now: Date): string[] => {
  const { colors } = out;
  const when = (time: string | null): string | null => (time === null ? null : absoluteTime(time, now));
  return [
    `${formatStatus(invocation.status, colors)}  ${colors.bold(visibleLine(invocation.tool_id))}`,
    ...formatFields(
      [
        ['invocation', invocation.invocation_id],
        ['run', invocation.run_id],
        ['replay of', invocation.replay_of ?? null],
        ['actor', visibleLine(invocation.actor)],
        ['session', invocation.session_id],
        ['labels', formatLabels(invocation.labels)],
        ['runner', invocation.runner],
        ['policy', formatDecision(invocation.decision)],
        ['hold', invocation.hold && holdInALine(invocation.hold)],
        ['not started', invocation.waiting && visibleLine(invocation.waiting.detail)],
        ['to do', invocation.waiting && visibleLine(invocation.waiting.suggestion)],
        ['created', when(invocation.created_at)],
        ['runs at', when(invocation.run_at)],
        ['expires', invocation.finished_at === null ? when(invocation.expires_at) : null],
        ['finished', when(invocation.finished_at)],
        ['took', formatTook(invocation)],
        ['limit', formatDuration(invocation.timeout_ms)],
        ['sandbox', invocation.result?.facts?.sandbox ?? null],
        ['seen', formatObserved(invocation.result)],
        ['left', formatFiles(invocation.result)],
        ['idempotency key', invocation.idempotency_key],
        ['as submitted', invocation.hold?.original_input_hash && colors.dim(invocation.hold.original_input_hash)],
        ['input hash', colors.dim(invocation.input_hash)],
        ['output hash', invocation.result === null ? null : colors.dim(invocation.result.output_hash)],
      ],
      out,
    ),
    ...section('inputs', visibleJson(invocation.inputs, 2), out),
    ...formatResult(invocation.result, out),
    ...formatAttempts(invocation, out, now),
  ];
};

/** A reused result has the duration of the call that produced it. */
const formatTook = ({ result, replay_of }: InvocationDetail): string | null =>
  result && `${formatDuration(result.duration_ms)}${replay_of ? `, when it was executed in ${replay_of}` : ''}`;

const section = (title: string, text: string, { colors }: Output): string[] =>
  text === '' ? [] : ['', colors.bold(title), indent(text.replace(/\n$/, ''))];

const formatResult = (result: Result | null, out: Output): string[] => {
  if (result === null) return [];
  const { stdout, stderr } = result.payload === null ? { stdout: '', stderr: '' } : renderPayload(result.payload);
  const removed = result.removed_at ? `removed by retention at ${result.removed_at}; its hash stays` : '';
  const code = result.code === null ? '' : out.colors.dim(`  (code ${result.code})`);
  return [
    ...(result.error === null ? [] : section('error', `${out.colors.red(visibleLine(result.error))}${code}`, out)),
    ...section(result.truncated ? 'output (truncated)' : 'output', stdout, out),
    ...section('output', removed, out),
    ...section('stderr', stderr, out),
  ];
};

/** The observed effects, to compare with what the tool declares. */
const formatObserved = (result: Result | null): string => {
  const { processes = 0, ...names } = result?.facts?.observed ?? {};
  const listed = Object.entries(names).flatMap(([what, each]) =>
    each === undefined || each.length === 0
      ? []
      : [`${what.replaceAll('_', ' ')}: ${each.map(visibleLine).join(', ')}`],
  );
  return [...(processes > 0 ? [processes === 1 ? '1 process' : `${processes} processes`] : []), ...listed].join(' · ');
};

const formatFiles = (result: Result | null): string =>
  (result?.artifacts ?? []).map(({ name }) => visibleLine(name)).join(', ');

const formatAttempts = ({ attempts, max_attempts: max, ...of }: InvocationDetail, out: Output, now: Date): string[] => {
  if (attempts.length === 0) return [];
  const lines = formatTable<Attempt>(
    [
      { title: 'TRY', text: ({ attempt }) => `${attempt}/${max}`, align: 'right' },
      { title: 'OUTCOME', text: ({ outcome }) => outcome ?? 'running' },
      { title: 'STARTED', text: ({ started_at }) => relativeTime(started_at, now) },
      { title: 'TOOK', text: (attempt) => took(attempt, of), align: 'right' },
      { title: 'WORKER', text: ({ worker_id }) => worker_id },
      { title: 'ERROR', text: ({ error }) => error ?? '', shrinks: true, paint: (text) => out.colors.red(text) },
    ],
    attempts,
    { colors: out.colors, columns: out.tty ? out.columns - 2 : null },
  );
  return section('attempts', lines.join('\n'), out);
};

/** The attempt that produced the result has its measured duration; for others, it is the time from start to end. */
const took = ({ attempt, started_at, ended_at }: Attempt, of: Pick<InvocationDetail, 'attempt' | 'result'>): string => {
  if (of.result !== null && attempt === of.attempt) return formatDuration(of.result.duration_ms);
  return ended_at === null ? '-' : formatDuration(Date.parse(ended_at) - Date.parse(started_at));
};

const formatLabels = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => visibleLine(`${name}=${value}`))
    .join(' ');

const formatDecision = ({ effect, reason, rule_matched }: Decision): string =>
  visibleLine(
    [effect, rule_matched === null ? '' : `by ${rule_matched}`, reason === '' ? '' : `(${reason})`]
      .filter(Boolean)
      .join(' '),
  );

import {
  type Hold,
  type HoldEntry,
  type HoldItem,
  type HoldSummary,
  loneRunId,
  type SimilarHold,
} from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';
import type { Colors, Output } from '../output.js';
import { shortId } from '../resolve-id.js';
import { type Field, formatFields, indent } from './fields.js';
import { absoluteTime, relativeTime } from './relative-time.js';
import type { Column } from './table.js';
import { formatToolChange } from './tool-change.js';

const PAINT = {
  pending: 'yellow',
  released: 'green',
  rejected: 'magenta',
  expired: 'red',
  withdrawn: 'gray',
  canceled: 'gray',
} as const;

export const paintHold = ({ status }: Pick<HoldSummary, 'status'>, text: string, colors: Colors): string =>
  colors[PAINT[status]](text);

const votesOf = ({ approvals: { given, required } }: HoldSummary): string => `${given}/${required}`;

type Layout = { colors: Colors; now: Date; columns: number | null };

/**
 * On a narrow terminal, the columns needed for a decision stay: the call, its inputs, its age and its step. An id is only cut to a prefix that commands
 * accept, so that it can be copied. The status is dropped first, because all rows usually have the same one.
 */
export const holdColumns = (items: readonly HoldItem[], { colors, now, columns }: Layout): Column<HoldItem>[] => {
  const short = columns !== null && columns < ROOMY && haveShortIds(items);
  return [
    { title: 'HOLD', text: ({ hold_id }) => (short ? shortId(hold_id) : hold_id) },
    { title: 'STATUS', text: ({ status }) => status, paint: (text, hold) => paintHold(hold, text, colors), drops: 1 },
    { title: 'TOOL', text: ({ tool_id }) => tool_id, shrinks: 14, tail: true },
    { title: 'INPUTS', text: ({ inputs }) => inputsInALine(inputs), shrinks: short ? 28 : 16 },
    {
      title: 'AGE',
      text: ({ created_at }) => relativeTime(created_at, now).replace(/ ago$/, ''),
      align: 'right',
      drops: 9,
    },
    { title: 'STEP', text: placeOf, shrinks: 8, drops: 8 },
    { title: 'RISK', text: ({ risk }) => risk ?? '-', drops: 7 },
    { title: 'BY', text: ({ actor }) => actor, shrinks: 8, drops: 5 },
    { title: 'VOTES', text: votesOf, align: 'right', drops: 3 },
    {
      title: 'EXPIRES',
      text: ({ expires_at, status }) => (status === 'pending' ? relativeTime(expires_at, now) : '-'),
      drops: 4,
    },
    { title: 'REASON', text: ({ returned_because, reason }) => returned_because ?? reason, shrinks: true, drops: 2 },
  ];
};

/** From here on, whole ids leave enough room for the inputs. */
const ROOMY = 120;

/** Holds of a run differ only at the end of their ids, so those stay whole. */
const haveShortIds = (items: readonly HoldItem[]): boolean =>
  items.every(
    ({ hold_id, invocation_id, run_id }) => run_id === loneRunId(invocation_id) && shortId(hold_id) !== hold_id,
  ) && new Set(items.map(({ hold_id }) => shortId(hold_id))).size === items.length;

/** The step and its run. The run of a lone call is left out, because it contains nothing else. */
const placeOf = ({ step_id, run_id, invocation_id }: HoldItem): string => {
  if (step_id !== null) return `${step_id} of ${run_id}`;
  return run_id === loneRunId(invocation_id) ? '-' : run_id;
};

const MAX_INPUT = 40;

/** Short values first: an amount or a name describes a call better than a long text. */
const inputsInALine = (inputs: HoldItem['inputs']): string => {
  const texts = Object.entries(inputs)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return { name, text: text.length > MAX_INPUT ? `${text.slice(0, MAX_INPUT).toWellFormed()}…` : text };
    });
  const isLong = ({ text }: { text: string }): number => (text.length > MAX_INPUT ? 1 : 0);
  return texts
    .toSorted((a, b) => isLong(a) - isLong(b))
    .map(({ name, text }) => `${name}=${text}`)
    .join(' ');
};

/** Earlier decisions, and how those calls ended. */
export const similarColumns = (colors: Colors, now: Date): Column<SimilarHold>[] => [
  { title: 'HOLD', text: ({ hold_id }) => hold_id },
  { title: 'DECIDED', text: ({ status }) => status, paint: (text, hold) => paintHold(hold, text, colors) },
  { title: 'BY', text: ({ decided_by }) => decided_by ?? '-', shrinks: 8 },
  { title: 'WHEN', text: ({ decided_at }) => (decided_at ? relativeTime(decided_at, now) : '-'), drops: 2 },
  { title: 'CAME TO', text: ({ outcome }) => outcome, drops: 3 },
  {
    title: 'INPUTS',
    text: ({ differs }) => (differs.length === 0 ? 'the same' : `other ${differs.join(', ')}`),
    shrinks: 12,
    drops: 1,
  },
  { title: 'COMMENT', text: ({ comment }) => visibleLine(comment ?? '-'), shrinks: true },
];

/** One line: the outcome, by whom, why the call is back, and whether its inputs were edited. */
export const holdInALine = (hold: HoldSummary): string => {
  const { hold_id, status, approvals, decided_by, returned_because, edits } = hold;
  const by = status === 'released' ? approvals.given_by.join(', ') : status === 'expired' ? null : decided_by;
  const changes = edits.map(({ actor, changed }) => `; ${actor} changed ${changed.join(', ')}`).join('');
  const again = status === 'pending' && returned_because ? ` again: ${returned_because}` : '';
  return visibleLine(`${hold_id} ${status}${by ? ` by ${by}` : ''}${again}${changes}`);
};

/** `why` may also explain a permission: on a new installation, that there is nobody else to ask. */
const mayRelease = ({ can_decide: { ok, why } }: Hold): string | null =>
  why && `${ok ? 'may release it' : 'may not release it'}: ${why}`;

/** Everything that is needed for a decision, on one screen. */
export const formatHold = (hold: Hold, out: Output, now: Date): string => {
  const { colors } = out;
  const { roles, actors, required, given, given_by } = hold.approvals;
  const who = actors ? actors.join(', ') : (roles ?? ['operate']).join(' and ');
  const fields: Field[] = [
    ['tool', hold.tool_id],
    ['risk', hold.risk],
    ['asked by', hold.actor],
    ['reason', visibleLine(hold.reason)],
    ['back because', hold.returned_because && visibleLine(hold.returned_because)],
    ['votes', `${given} of ${required}${given > 0 ? ` by ${given_by.join(', ')}` : ''} (${who})`],
    ['step', hold.step_id && `${hold.step_id} of ${hold.run_id}`],
    ['you', hold.status === 'pending' ? mayRelease(hold) : null],
    ['expires', hold.status === 'pending' ? absoluteTime(hold.expires_at, now) : null],
    ['decided', hold.decided_by && `by ${hold.decided_by}, ${relativeTime(hold.decided_at ?? '', now)}`],
    ['side effects', hold.side_effects.join(', ')],
    ['invocation', hold.invocation_id],
    ['inputs', hold.input_hash],
    ['as submitted', hold.original_input_hash],
    ['descriptor', hold.descriptor_hash],
    ['policy', hold.policy_hash],
  ];
  const entries = [...hold.changes, ...hold.votes, ...hold.comments].sort((a, b) => a.at.localeCompare(b.at));
  const ageWidth = Math.max(...entries.map(({ at }) => relativeTime(at, now).length));
  return [
    `${paintHold(hold, hold.status, colors)}  ${hold.hold_id}`,
    ...formatFields(fields, out),
    ...JSON.stringify(hold.inputs, null, 2)
      .split('\n')
      .map((line) => indent(visibleLine(line))),
    ...formatEdits(hold, colors),
    ...(hold.tool_change ? formatToolChange(hold.tool_change, colors).map((line) => `  ${line}`) : []),
    ...entries.map((entry) => `  ${formatEntry(entry, ageWidth, colors, now)}`),
  ].join('\n');
};

const MAX_VALUE = 60;
const shortValue = (value: unknown): string => {
  const text = visibleLine(JSON.stringify(value) ?? 'nothing');
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
};

/** The edits of the submitted inputs, member by member. */
const formatEdits = ({ inputs, original_inputs, edits }: Hold, colors: Colors): string[] => {
  if (!original_inputs) return [];
  const names = new Set(edits.flatMap(({ changed }) => changed));
  return [...names].map((name) => {
    const [was, is] = [original_inputs[name], inputs[name]].map(shortValue);
    const by = [...new Set(edits.flatMap(({ actor, changed }) => (changed.includes(name) ? actor : [])))].join(', ');
    return `  ${colors.yellow('~')} ${visibleLine(name)}: ${was} → ${is} ${colors.dim(`by ${by}`)}`;
  });
};

const formatEntry = (entry: HoldEntry, ageWidth: number, colors: Colors, now: Date): string => {
  const { kind, actor, at, comment, changed, counts, grant_id } = entry;
  const what = changed ? `changed ${changed.join(', ')}` : kind;
  const notes = [
    ...(grant_id === null ? [] : [`given in advance by ${grant_id}`]),
    ...(kind === 'release' && !counts ? ['void'] : []),
  ];
  const note = notes.length === 0 ? '' : ` (${notes.join(', ')})`;
  const said = comment === null ? '' : ` “${visibleLine(comment)}”`;
  return `${colors.dim(relativeTime(at, now).padEnd(ageWidth))}  ${actor}: ${what}${note}${said}`;
};

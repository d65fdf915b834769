import type { Hold, HoldEntry, HoldSummary, SimilarHold } from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';
import type { Colors } from '../output.js';
import { type Field, formatFields, indent } from './fields.js';
import { absoluteTime, relativeTime } from './relative-time.js';
import type { Column } from './table.js';

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

/** On a narrow terminal the id stays whole, to be copied. A list is of one status, so that this goes first. */
export const holdColumns = (colors: Colors, now: Date): Column<HoldSummary>[] => [
  { title: 'HOLD', text: ({ hold_id }) => hold_id },
  { title: 'STATUS', text: ({ status }) => status, paint: (text, hold) => paintHold(hold, text, colors), drops: 1 },
  { title: 'TOOL', text: ({ tool_id }) => tool_id, shrinks: 16, tail: true },
  { title: 'RISK', text: ({ risk }) => risk ?? '-', drops: 5 },
  { title: 'BY', text: ({ actor }) => actor, shrinks: 8, drops: 3 },
  { title: 'VOTES', text: votesOf, align: 'right', drops: 2 },
  {
    title: 'EXPIRES',
    text: ({ expires_at, status }) => (status === 'pending' ? relativeTime(expires_at, now) : '-'),
    drops: 4,
  },
  { title: 'REASON', text: ({ returned_because, reason }) => returned_because ?? reason, shrinks: true },
];

/** What was decided before, and what came of it. */
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

/** In a line: what became of it, by whom, why it is back, and whether they changed what was asked for. */
export const holdInALine = (hold: HoldSummary): string => {
  const { hold_id, status, approvals, decided_by, returned_because, edits } = hold;
  const by = status === 'released' ? approvals.given_by.join(', ') : status === 'expired' ? null : decided_by;
  const changes = edits.map(({ actor, changed }) => `; ${actor} changed ${changed.join(', ')}`).join('');
  const again = status === 'pending' && returned_because ? ` again: ${returned_because}` : '';
  return visibleLine(`${hold_id} ${status}${by ? ` by ${by}` : ''}${again}${changes}`);
};

/** All that somebody who decides has to know, on a screen. */
export const formatHold = (hold: Hold, colors: Colors, now: Date): string => {
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
    ['you', hold.status === 'pending' && hold.can_decide.why ? `may not release it: ${hold.can_decide.why}` : null],
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
    ...formatFields(fields, colors),
    ...JSON.stringify(hold.inputs, null, 2)
      .split('\n')
      .map((line) => indent(visibleLine(line))),
    ...formatEdits(hold, colors),
    ...entries.map((entry) => `  ${formatEntry(entry, ageWidth, colors, now)}`),
  ].join('\n');
};

const MAX_VALUE = 60;
const shortValue = (value: unknown): string => {
  const text = visibleLine(JSON.stringify(value) ?? 'nothing');
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
};

/** What people made of the inputs that were submitted, member by member. */
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

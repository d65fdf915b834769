import { type Report, type ReportStep, type StepStatus, visibleLine } from '@capstan/contracts';
import { counted } from './counted.js';
import { whatOf } from './hold-entry.js';

export const ICONS: Record<StepStatus, string> = {
  ...{
    succeeded: '✓',
    failed: '✗',
    timed_out: '⏱',
    denied: '⊘',
    rejected: '⊘',
    held: '⏸',
    canceled: '◼',
    expired: '⌛',
  },
  ...{ ambiguous: '?', skipped: '↷', pending: '·', queued: '·', deferred: '·', running: '▶' },
};

/** A timeline for a terminal. */
export function renderText(report: Report): string {
  const { run, summary, verification } = report;
  const start = Date.parse(run.created_at);
  const widths = {
    step: widest(report.steps.map(({ step_id }) => step_id)),
    tool: widest(report.steps.map(({ tool_id }) => tool_id)),
  };
  const lines = [
    `Run ${run.run_id}${run.name ? ` — ${plain(run.name)}` : ''}: ${run.status}${run.held_steps > 0 ? ', waits for a person' : ''}${run.replay_of ? ` (${run.mode === 'replay' ? 'replay of' : 'goes on from'} ${run.replay_of})` : ''}`,
    `  by ${plain(run.actor)} at ${run.created_at}, ${duration(summary.total_duration_ms)}`,
    ...(run.plan_hash ? [`  plan   ${run.plan_hash}`] : []),
    ...(run.policy_hash ? [`  policy ${run.policy_hash}`] : []),
    ...(run.reason ? [`  ${plain(run.reason)}`] : []),
    '',
    ...report.steps.flatMap((step) => stepLines(step, start, widths)),
    ...(report.steps_omitted > 0 ? [`  … and ${report.steps_omitted} more`] : []),
    '',
    `Steps: ${summary.total_steps} in all, ${summary.completed_steps} succeeded, ${summary.failed_steps} failed, ${summary.denied_steps} denied, ${summary.canceled_steps} canceled, ${summary.skipped_steps} skipped${summary.held_steps > 0 ? `, ${summary.held_steps} held` : ''}; ${counted(summary.attempts, 'attempt')}`,
    ...list('Files read', summary.files_read),
    ...list('Files written', summary.files_written),
    ...list('Domains contacted', summary.domains_contacted),
    ...(summary.processes > 0 ? [`Processes: ${summary.processes}`] : []),
    verdict(verification),
  ];
  return `${lines.join('\n')}\n`;
}

const MAX_COLUMN = 40;
const widest = (texts: readonly string[]): number =>
  Math.min(
    MAX_COLUMN,
    texts.reduce((most, text) => Math.max(most, text.length), 0),
  );

function stepLines(step: ReportStep, start: number, widths: { step: number; tool: number }): string[] {
  const at = step.started_at ?? step.created_at;
  const offset = at === null ? '        ' : `+${duration(Date.parse(at) - start)}`.padStart(8);
  const took = step.reused_from
    ? `  re-used from ${step.reused_from}`
    : step.duration_ms === null
      ? ''
      : `  ${duration(step.duration_ms)}`;
  const why =
    step.error ?? step.reason ?? (step.decision && step.decision.effect !== 'allow' ? step.decision.reason : null);
  const lines = [
    `  ${ICONS[step.status]} ${offset}  ${plain(step.step_id).padEnd(widths.step)}  ${plain(step.tool_id).padEnd(widths.tool)}  ${step.status}${took}`,
  ];
  if (why) lines.push(`               ${plain(why)}`);
  if (step.decision?.effect === 'deny')
    lines.push(`               rule: ${plain(step.decision.rule_matched ?? 'none')}`);
  for (const entry of step.hold?.entries ?? []) {
    const what = whatOf(entry);
    lines.push(
      `               ${entry.kind} by ${plain(entry.actor)} at ${entry.at}${entry.comment ? `: ${plain(entry.comment)}` : ''}`,
      ...(what === null ? [] : [`                 ${plain(what)}`]),
    );
  }
  if (step.attempts.length > 1)
    for (const { attempt, outcome, worker_id } of step.attempts)
      lines.push(`               attempt ${attempt}: ${outcome ?? ''} on ${worker_id}`);
  return lines;
}

function verdict(verification: Report['verification']): string {
  if (!verification) return 'Record: not complete, the run has not ended';
  const { ok, checked, mismatches, more, removed, seal, checkpoint } = verification;
  const signer = checkpoint?.key ?? seal?.key_id;
  const signed = signer ? `, signed by ${signer}` : ', not signed';
  const gone = removed > 0 ? `; results removed by retention: ${removed}, verified by hash` : '';
  if (ok)
    return `Record: verified, ${counted(checked, 'record')}, root ${checkpoint?.root ?? seal?.root}${signed}${gone}`;
  const [first] = mismatches;
  const named = first ? `: ${first.table}.${first.field} of ${plain(first.row)} — ${first.why}` : '';
  return `Record: BROKEN, ${mismatches.length + more} ${mismatches.length + more === 1 ? 'mismatch' : 'mismatches'}${named}`;
}

const list = (title: string, names: readonly string[]): string[] =>
  names.length === 0
    ? []
    : [
        `${title}: ${names.slice(0, 20).map(plain).join(', ')}${names.length > 20 ? ` and ${names.length - 20} more` : ''}`,
      ];

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)}s` : `${Math.floor(ms / 60_000)}m${Math.round((ms % 60_000) / 1000)}s`;
}

/** Text from tools and people must not send control sequences to the reader's terminal. */
const plain = (text: string): string => visibleLine(text.slice(0, 300));

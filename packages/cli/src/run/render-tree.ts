import { holdIdOf, type Step } from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';
import { formatCount } from '../format/count.js';
import { formatDuration } from '../format/duration.js';
import { paintRun, paintStatus, runStatusText, statusText } from '../format/status.js';
import { cut, fill, widthOf } from '../format/width.js';
import type { Output } from '../output.js';
import { type Branch, countElements, type PlanTree, type Span, spanOf, statusOf } from './plan-tree.js';

type Look = Pick<Output, 'colors'> & {
  /** Null if lines are never cut. */
  columns: number | null;
  now: number;
  /** Null for no limit. */
  max_lines: number | null;
};

const MAX_FAILED = 5;
const MAX_NAME = 60;
/** The width of `59m 59s` and of `re-used`. */
const TIME_WIDTH = 7;

/** The run, its steps, and the failed elements of fan-outs. */
export function renderTree(tree: PlanTree, look: Look): string[] {
  const { colors } = look;
  const { run } = tree;
  const done = run.completed_steps + run.failed_steps + run.denied_steps + run.canceled_steps + run.skipped_steps;
  const took = (run.finished_at === null ? look.now : Date.parse(run.finished_at)) - Date.parse(run.created_at);
  const heading = fitting(
    [
      { text: runStatusText(run), paint: (text) => paintRun(run, text, colors) },
      { text: cut(visibleLine(run.name ?? run.run_id), MAX_NAME), paint: colors.bold },
      { text: `${formatCount(done)}/${formatCount(run.total_steps)}`, paint: String },
      { text: formatDuration(Math.max(0, took)), paint: colors.dim },
      ...(run.name === null ? [] : [{ text: run.run_id, paint: colors.dim }]),
    ],
    look.columns,
  );
  const { shown, hidden } = choose(tree.branches, look.max_lines);
  const width = shown.reduce((widest, { id }) => Math.max(widest, widthOf(visibleLine(id))), 0);
  const lines = shown.flatMap((branch, at) => {
    const last = at === shown.length - 1 && hidden === 0;
    return renderBranch(branch, width, last, look);
  });
  const more = `└─ … ${formatCount(hidden)} more${run.finished_at === null ? '' : `: capstan show ${run.run_id}`}`;
  const rest = hidden === 0 ? [] : [colors.dim(cut(more, look.columns))];
  return [heading, ...lines.slice(0, look.max_lines ?? lines.length), ...rest];
}

type Part = { text: string; paint(text: string): string };

/** As many parts as fit. */
function fitting(parts: readonly Part[], columns: number | null): string {
  let room = columns ?? Number.POSITIVE_INFINITY;
  const shown: string[] = [];
  for (const { text, paint } of parts) {
    const width = widthOf(text);
    if (width > room) break;
    shown.push(paint(text));
    room -= width + 2;
  }
  return shown.join('  ');
}

/** With more steps than lines, steps in progress and failed steps come first. */
function choose(branches: readonly Branch[], max: number | null): { shown: Branch[]; hidden: number } {
  if (max === null || branches.length <= max) return { shown: [...branches], hidden: 0 };
  const dull = (branch: Branch) => (['succeeded', 'pending', 'skipped'].includes(statusOf(branch)) ? 1 : 0);
  const shown = branches
    .toSorted((a, b) => dull(a) - dull(b) || a.index - b.index)
    .slice(0, max)
    .toSorted((a, b) => a.index - b.index);
  return { shown, hidden: branches.length - shown.length };
}

function renderBranch(branch: Branch, width: number, last: boolean, look: Look): string[] {
  const { colors, columns } = look;
  const status = statusOf(branch);
  const text = [
    statusText(status).padEnd(11),
    fill(visibleLine(branch.id), width),
    timeOf(spanOf(branch), look.now).padStart(TIME_WIDTH),
    visibleLine(branch.tool_id),
    ...(branch.elements.size > 0 ? [progressOf(branch)] : []),
    ...(branch.needs && branch.needs.length > 0 ? [`← ${visibleLine(branch.needs.join(', '))}`] : []),
    ...(branch.elements.size === 0 && branch.told ? whyOf(branch.told) : []),
  ].join('  ');
  const line = `${last ? '└─' : '├─'} ${paintStatus(status, cut(text, columns === null ? null : columns - 4), colors)}`;
  const wrong = [...branch.elements].filter(([, { reason }]) => reason !== null).slice(0, MAX_FAILED);
  return [
    line,
    ...wrong.map(([element, told]) => {
      const detail = cut(
        [statusText(told.status), `[${element}]`, ...whyOf(told)].join('  '),
        columns === null ? null : columns - 8,
      );
      return `${last ? '  ' : '│ '}  ${paintStatus(told.status, detail, colors)}`;
    }),
  ];
}

/** The reason for the status, with the hold id of a held step. */
export function whyOf({ status, invocation_id, reason }: Omit<Step, 'result'>): string[] {
  return [
    ...(status === 'held' && invocation_id !== null ? [holdIdOf(invocation_id)] : []),
    ...(reason === null ? [] : [visibleLine(reason)]),
  ];
}

function progressOf(branch: Branch): string {
  const { ended, failed, running, total } = countElements(branch);
  const parts = [`${formatCount(ended)}/${formatCount(total)}`];
  if (running > 0) parts.push(`${formatCount(running)} running`);
  if (failed > 0) parts.push(`${formatCount(failed)} failed`);
  return parts.join(', ');
}

export function timeOf(told: Span | null, now: number): string {
  if (told?.reused_from) return 're-used';
  if (told?.duration_ms != null) return formatDuration(told.duration_ms);
  if (told?.started_at == null) return '';
  const end = told.finished_at === null ? now : Date.parse(told.finished_at);
  return formatDuration(Math.max(0, end - Date.parse(told.started_at)));
}

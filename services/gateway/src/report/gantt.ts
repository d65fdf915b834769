import type { Report, ReportStep } from '@capstan/contracts';
import { type Html, html } from './html.js';
import { duration } from './render-text.js';

const MAX_BARS = 300;
const ROW = 22;
const LEFT = 230;
const WIDTH = 760;
const TICKS = 5;

type Bar = { step: ReportStep; from: number; begin: number; to: number };

/** Grey while it waited, coloured while it ran. */
export function renderGantt({ run, steps, steps_omitted }: Report): Html {
  const start = Date.parse(run.created_at);
  const timed = steps.flatMap((step): Bar[] => {
    if (step.created_at === null) return [];
    const from = Date.parse(step.created_at);
    const begin = step.started_at === null ? from : Date.parse(step.started_at);
    return [
      { step, from, begin, to: Math.max(begin, Date.parse(step.finished_at ?? run.finished_at ?? step.created_at)) },
    ];
  });
  if (timed.length === 0) return html`<p class="sub">Nothing of it was started.</p>`;
  const shown = timed.slice(0, MAX_BARS);
  const end = Math.max(start + 1, ...shown.map(({ to }) => to));
  const x = (at: number) => LEFT + ((at - start) / (end - start)) * WIDTH;
  const height = (shown.length + 1) * ROW + 8;
  const more = timed.length - shown.length + steps_omitted;
  return html`<svg viewBox="0 0 ${LEFT + WIDTH + 70} ${height}" role="img" aria-label="Timeline of the steps">
${Array.from({ length: TICKS + 1 }, (_, tick) => {
  const at = start + ((end - start) * tick) / TICKS;
  return html`<line x1="${x(at).toFixed(1)}" x2="${x(at).toFixed(1)}" y1="16" y2="${height}" class="tick"/><text x="${x(at).toFixed(1)}" y="11" class="axis">${duration(at - start)}</text>`;
})}
${shown.map(({ step, from, begin, to }, at) => {
  const y = at * ROW + 20;
  const name = step.step_id.length > 30 ? `${step.step_id.slice(0, 29).toWellFormed()}…` : step.step_id;
  return html`<g><title>${step.step_id} ${step.tool_id}: ${step.status}, ${duration(to - begin)}</title><text x="${LEFT - 8}" y="${y + 13}" class="name">${name}</text>
<rect x="${x(from).toFixed(1)}" y="${y + 6}" width="${Math.max(0, x(begin) - x(from)).toFixed(1)}" height="5" class="waited"/><rect x="${x(begin).toFixed(1)}" y="${y + 1}" width="${Math.max(3, x(to) - x(begin)).toFixed(1)}" height="15" rx="3" class="bar ${step.status}"/><text x="${(x(to) + 7).toFixed(1)}" y="${y + 13}" class="took">${duration(to - begin)}</text></g>`;
})}</svg>${more > 0 && html`<p class="sub">${more} more steps are not drawn.</p>`}`;
}

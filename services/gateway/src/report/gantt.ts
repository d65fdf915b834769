import type { Report, ReportStep } from '@capstan/contracts';
import { type Html, html } from './html.js';
import { duration } from './render-text.js';

const MAX_BARS = 300;
/** A line with the name and the duration, and one with the bar. All widths are shares of the page, so that it also fits a phone. */
const ROW = 38;
const AXIS = 22;
const TICKS = 4;
/** Of the width, in percent: a bar that is shorter would not be seen. */
const NARROWEST = 0.6;

type Bar = { step: ReportStep; from: number; begin: number; to: number };

/** Waiting time in gray, run time in color. */
export function renderGantt({ run, steps, steps_omitted }: Report): Html {
  const start = Date.parse(run.created_at);
  const timed = steps.flatMap((step): Bar[] => {
    if (step.created_at === null) return [];
    const from = Date.parse(step.created_at);
    const started = step.started_at === null ? from : Date.parse(step.started_at);
    const to = Math.max(started, Date.parse(step.finished_at ?? run.finished_at ?? step.created_at));
    // The duration that the step itself states, so that the report never shows two different ones.
    const begin = step.duration_ms === null || step.reused_from ? started : Math.max(from, to - step.duration_ms);
    return [{ step, from, begin, to }];
  });
  if (timed.length === 0) return html`<p class="sub">Nothing of it was started.</p>`;
  const shown = timed.slice(0, MAX_BARS);
  const end = Math.max(start + 1, ...shown.map(({ to }) => to));
  const share = (ms: number) => (ms / (end - start)) * 100;
  const percent = (value: number) => `${value.toFixed(2)}%`;
  const height = shown.length * ROW + AXIS;
  const more = timed.length - shown.length + steps_omitted;
  return html`<svg width="100%" height="${height}" role="img" aria-label="Timeline of the steps">
${Array.from({ length: TICKS + 1 }, (_, tick) => {
  const at = percent((tick / TICKS) * 100);
  const anchor = tick === 0 ? 'start' : tick === TICKS ? 'end' : 'middle';
  return html`<line x1="${at}" x2="${at}" y1="16" y2="${height}" class="tick"/><text x="${at}" y="11" text-anchor="${anchor}" class="axis">${duration(((end - start) * tick) / TICKS)}</text>`;
})}
${shown.map(({ step, from, begin, to }, at) => {
  const y = at * ROW + AXIS;
  const name = step.step_id.length > 30 ? `${step.step_id.slice(0, 29).toWellFormed()}…` : step.step_id;
  const took = step.reused_from ? 're-used' : duration(step.duration_ms ?? to - begin);
  const width = Math.max(NARROWEST, share(to - begin));
  const left = Math.min(100 - width, share(begin - start));
  return html`<g><title>${step.step_id} ${step.tool_id}: ${step.status}, ${took}</title><text x="0" y="${y + 12}">${name}</text><text x="100%" y="${y + 12}" text-anchor="end" class="took">${took}</text>
<rect x="${percent(share(from - start))}" y="${y + 21}" width="${percent(Math.max(0, share(begin - from)))}" height="4" class="waited"/><rect x="${percent(left)}" y="${y + 17}" width="${percent(width)}" height="12" rx="3" class="bar ${step.status}"/></g>`;
})}</svg>${more > 0 && html`<p class="sub">${more} more steps are not drawn.</p>`}`;
}

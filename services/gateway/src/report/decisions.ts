import type { Report, ReportStep } from '@capstan/contracts';
import { whatOf } from './hold-entry.js';
import { type Html, html } from './html.js';

const MAX_ROWS = 200;

/** Refusals and approvals come first, because auditors look for them. */
export function renderDecisions({ steps }: Report): Html {
  const rows = steps.filter(
    ({ decision, hold }) => hold !== null || (decision !== null && decision.effect !== 'allow'),
  );
  if (rows.length === 0) return html`<p class="sub">Every call was allowed by a rule; nobody had to agree.</p>`;
  return html`<table class="rows"><tr><th>Step</th><th>Decision</th><th>Who decided</th></tr>${rows.slice(0, MAX_ROWS).map(row)}</table>
${rows.length > MAX_ROWS && html`<p class="sub">${rows.length - MAX_ROWS} more are with their steps.</p>`}`;
}

const row = ({ index, step_id, tool_id, decision, hold }: ReportStep): Html =>
  html`<tr><td><a href="#step-${index}"><b>${step_id}</b></a><br><code>${tool_id}</code></td>
<td>${decision && html`<span class="tag ${decision.effect}">${decision.effect}</span> ${decision.reason}${decision.rule_matched && html`<br>rule <code>${decision.rule_matched}</code>`}`}</td>
<td>${hold ? consent(hold) : 'decided by the policy'}</td></tr>`;

const consent = (hold: NonNullable<ReportStep['hold']>): Html =>
  html`<span class="tag ${hold.status}">${hold.status}</span>${hold.decided_by && html` by <b>${hold.decided_by}</b> at ${hold.decided_at}`}${hold.entries.map(entryOf)}`;

export const entryOf = (entry: NonNullable<ReportStep['hold']>['entries'][number]): Html =>
  html`<br>${entry.at}: ${entry.kind} by <b>${entry.actor}</b>${entry.comment && html` — “${entry.comment}”`} <code>${whatOf(entry)}</code>`;

import type { Report, ReportStep } from '@capstan/contracts';
import { counted } from './counted.js';
import { entryOf, renderDecisions } from './decisions.js';
import { renderGantt } from './gantt.js';
import { type Html, html } from './html.js';
import { duration, ICONS } from './render-text.js';
import { STYLE } from './style.js';

const MAX_DETAILS = 500;
const MAX_JSON = 4000;
/** Plan and policy are shown once; everything else is checked against them. */
const MAX_DOCUMENT = 200_000;

/** One self-contained page: no scripts, no fonts, nothing to load. */
export function renderHtml(report: Report): string {
  const { run, summary } = report;
  const title = run.name ?? run.run_id;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title} · run report</title><style>${STYLE}</style></head><body>
<header><h1>${title} <span class="tag ${run.status}">${run.status}</span>${run.held_steps > 0 && html` <span class="tag held">waits for a person</span>`}${run.replay_of && html` <span class="tag">${run.mode === 'replay' ? 'replay of' : 'goes on from'} ${run.replay_of}</span>`}</h1>
<p class="sub">${run.run_id} · started by <b>${run.actor}</b> at ${run.created_at}${run.finished_at && html` · ended at ${run.finished_at}`}</p>
${run.reason && html`<p class="bad">${run.reason}</p>`}</header>
${verdict(report)}
<section class="cards">${card('Duration', duration(summary.total_duration_ms))}${card('Steps', summary.total_steps)}${card('Succeeded', summary.completed_steps)}${card('Failed', summary.failed_steps)}${card('Denied', summary.denied_steps)}${card('Held', summary.holds)}${card('Attempts', summary.attempts)}${card('Processes', summary.processes)}</section>
<section><h2>Refusals and consent</h2>${renderDecisions(report)}</section>
<section><h2>Timeline</h2><p class="sub">Grey: it waited, for a worker, for a person or for its next attempt. Coloured: its last attempt ran.</p>${renderGantt(report)}</section>
<section><h2>What it touched</h2><table class="facts">${facts('Files read', summary.files_read)}${facts('Files written', summary.files_written)}${facts('Domains contacted', summary.domains_contacted)}${facts(
    'Tools',
    Object.entries(summary.tools).map(([tool, count]) => `${tool} × ${count}`),
  )}${facts('Workers', summary.workers)}</table></section>
<section><h2>Steps and decisions</h2>${report.steps.slice(0, MAX_DETAILS).map(stepDetails)}
${report.steps.length + report.steps_omitted > MAX_DETAILS && html`<p class="sub">${report.steps.length + report.steps_omitted - MAX_DETAILS} more steps are in the JSON report.</p>`}</section>
<section><h2>Plan and policy</h2><table class="facts">${fact('Plan hash', run.plan_hash)}${fact('Policy hash', run.policy_hash)}</table>
${report.plan && document('Plan', report.plan, MAX_DOCUMENT)}${report.inputs && document('Inputs of the run', report.inputs, MAX_DOCUMENT)}${report.policy && document('Policy', report.policy.document, MAX_DOCUMENT)}</section>
<footer>Report ${report.report_version}, made at ${report.generated_at}. Hashes are SHA-256 over RFC 8785 canonical JSON; check them with <code>capstan verify ${run.run_id}</code>.</footer>
</body></html>`.text;
}

function verdict({ verification, run }: Report): Html {
  if (!verification)
    return html`<section class="verdict open"><b>Not complete.</b> The run is ${run.status}${run.held_steps > 0 && ` and waits for a person (${run.held_steps} held)`}; its record is complete when it has ended.</section>`;
  const { ok, checked, seal, checkpoint, mismatches, more, removed } = verification;
  const logged =
    checkpoint &&
    html`<table class="facts">${fact('Log', checkpoint.origin)}${fact('Entries', String(checkpoint.size))}${fact('Root', checkpoint.root)}${fact('Signed by', checkpoint.key ?? 'not signed')}</table>`;
  const sealed =
    seal &&
    html`<table class="facts">${fact('Root of the chain', seal.root)}${fact('Seal', seal.seal_hash)}${fact('Sealed at', seal.sealed_at)}${fact('Signed by', seal.key_id ?? 'not signed')}${seal.public_key && fact('Public key', seal.public_key)}</table>`;
  if (ok)
    return html`<section class="verdict good"><b>✓ The record verifies.</b> ${counted(checked, 'record')}, each held against its hash and its place in the log.${removed > 0 && ` Results removed by retention: ${removed}, verified by their hashes.`}${logged}${sealed}</section>`;
  return html`<section class="verdict broken"><b>✗ The record does not verify:</b> ${mismatches.length + more} mismatches.${logged}${sealed}
<table><tr><th>Table</th><th>Row</th><th>Field</th><th>Stored</th><th>Computed</th><th>Why</th></tr>
${mismatches.slice(0, 50).map((one) => html`<tr><td>${one.table}</td><td>${one.row}</td><td>${one.field}</td><td><code>${json(one.stored)}</code></td><td><code>${json(one.computed)}</code></td><td>${one.why}</td></tr>`)}</table></section>`;
}

const card = (name: string, value: string | number): Html =>
  html`<div class="card"><b>${value}</b><span>${name}</span></div>`;
const fact = (name: string, value: string | null): Html =>
  html`<tr><th>${name}</th><td><code>${value ?? '—'}</code></td></tr>`;
const facts = (name: string, values: readonly string[]): Html =>
  html`<tr><th>${name}</th><td>${values.length === 0 ? '—' : values.slice(0, 100).map((value) => html`<code>${value}</code> `)}${values.length > 100 && ` and ${values.length - 100} more`}</td></tr>`;

function stepDetails(step: ReportStep): Html {
  const { decision, hold } = step;
  return html`<details id="step-${step.index}"${(step.status === 'denied' || step.status === 'failed') && html` open`}><summary><span class="icon ${step.status}">${ICONS[step.status]}</span> <b>${step.step_id}</b> <code>${step.tool_id}</code>
<span class="right">${step.reused_from ? html`<span class="tag">re-used</span>` : step.duration_ms !== null && duration(step.duration_ms)} <span class="tag ${step.status}">${step.status}</span></span></summary>
<table class="facts">${step.reused_from && fact('Executed in', step.reused_from)}${decision && html`<tr><th>Decision</th><td><span class="tag ${decision.effect}">${decision.effect}</span> ${decision.reason} ${decision.rule_matched && html`<code>${decision.rule_matched}</code>`}</td></tr>`}
${hold && html`<tr><th>Hold</th><td>${hold.status}${hold.decided_by && html` by <b>${hold.decided_by}</b> at ${hold.decided_at}`}${hold.entries.map(entryOf)}</td></tr>${fact('Inputs as submitted', hold.original_input_hash ?? step.input_hash)}${fact('Inputs as released', hold.approved_input_hash)}`}
${(step.error ?? step.reason) && html`<tr><th>Reason</th><td class="bad">${step.error ?? step.reason}</td></tr>`}
${step.attempts.map((one) => html`<tr><th>Attempt ${one.attempt}</th><td>${one.outcome} on ${one.worker_id}, ${one.started_at}${one.error && html` — ${one.error}`}</td></tr>`)}
${step.sandbox && fact('Sandbox', step.sandbox)}${step.declared_side_effects.length > 0 && facts('Declared effects', step.declared_side_effects)}${step.observed && fact('Observed', json(step.observed))}
${fact('Input hash', step.input_hash)}${fact('Output hash', step.output_hash)}${fact('Link of the chain', step.chain_hash)}</table>
${hold?.original_input_hash && document('Inputs as submitted', hold.original_inputs)}${document('Inputs', step.inputs)}${step.output !== null && document('Output', step.output)}</details>`;
}

const document = (name: string, value: unknown, max = MAX_JSON): Html =>
  html`<h4>${name}</h4><pre>${json(value, 2, max)}</pre>`;

function json(value: unknown, indent?: number, max = MAX_JSON): string {
  const text = JSON.stringify(value ?? null, null, indent);
  return text.length > max ? `${text.slice(0, max).toWellFormed()}…` : text;
}

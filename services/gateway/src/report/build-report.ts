import {
  Decision,
  deniedAtRun,
  isObject,
  isRunOver,
  type Principal,
  RECORDED_STEP_LABEL,
  REPORT_VERSION,
  type Report,
  ReportStep,
  type ReportSummary,
  type RunDetail,
  stepInvocationId,
} from '@capstan/contracts';
import { policyByHash } from '@capstan/store/policy';
import { type ReadEntry, readRecord } from '@capstan/store/record';
import { getRunDetail } from '@capstan/store/run';
import type { GatewayContext } from '../gateway-context.js';
import { notFound } from '../invocation/act-on.js';
import { recordedRun } from '../verify/recorded-run.js';
import { verified } from '../verify/verify-record.js';
import { createSummary } from './summary.js';

const MAX_STEPS = 10_000;
type Row = Readonly<Record<string, unknown>>;

/** Reads the record page by page. The list of steps is limited; the counts cover all of them. */
export async function buildReport(gateway: GatewayContext, principal: Principal, run_id: string): Promise<Report> {
  const detail = await getRunDetail(gateway.store, principal.tenant, run_id);
  if (!detail) throw notFound(run_id);
  const { plan, inputs, max_parallel: _, webhook_url: __, ...run } = detail;
  const { steps, steps_omitted, summary } = await readSteps(gateway, detail);
  const verification = isRunOver(run.status)
    ? await verified(gateway, await recordedRun(gateway, principal, run_id))
    : null;
  return {
    report_version: REPORT_VERSION,
    generated_at: new Date().toISOString(),
    run,
    plan,
    inputs,
    policy: await policyOf(gateway, run.policy_hash),
    steps,
    steps_omitted,
    summary,
    verification: verification && {
      ...{ ok: verification.ok, checked: verification.checked, mismatches: verification.mismatches },
      ...{ more: verification.more, checkpoint: verification.checkpoint, seal: verification.seal },
      removed: verification.removed.length + verification.removed_more,
    },
  };
}

async function policyOf({ store }: GatewayContext, policy_hash: string | null): Promise<Report['policy']> {
  if (policy_hash === null) return null;
  const policy = await policyByHash(store.db, policy_hash);
  return { policy_hash, document: policy?.document ?? null };
}

async function readSteps(
  { store }: GatewayContext,
  run: RunDetail,
): Promise<Pick<Report, 'steps' | 'steps_omitted'> & { summary: ReportSummary }> {
  const summary = createSummary(run);
  const steps: ReportStep[] = [];
  /** In the record, the steps of a plan come before their invocations. */
  const places = new Map<string, number>();
  let omitted = 0;
  for await (const entries of readRecord(store, run))
    for (const entry of entries) {
      if (entry.kind === 'invocation') summary.add(entry);
      const place = places.get(entry.id);
      if (place !== undefined)
        steps[place] = parse({ ...steps[place], ...ofInvocation(entry), ...replayedFrom(run, entry) });
      else if (isFannedOut(entry)) continue;
      else if (steps.length >= MAX_STEPS) omitted += entry.kind === 'step' || run.kind !== 'plan' ? 1 : 0;
      else {
        const step = entry.kind === 'step' ? ofStep(run.run_id, entry) : null;
        if (step?.invocation_id) places.set(step.invocation_id, steps.length);
        steps.push(
          parse({
            ...EMPTY,
            index: steps.length,
            step_id: nameOf(entry),
            ...(step ?? { ...ofInvocation(entry), ...replayedFrom(run, entry) }),
          }),
        );
      }
    }
  return { steps, steps_omitted: omitted, summary: summary.result() };
}

/** A replay executes nothing: its results are those of the replayed run. */
const replayedFrom = (
  { mode, replay_of }: RunDetail,
  { tables }: ReadEntry,
): Partial<Pick<ReportStep, 'reused_from'>> =>
  mode === 'replay' && tables.results?.[0] ? { reused_from: replay_of } : {};

/** The plan step that a re-executed call belonged to, else its id. */
function nameOf({ id, tables }: ReadEntry): string {
  const labels = tables.invocations?.[0]?.labels;
  return String((isObject(labels) && labels[RECORDED_STEP_LABEL]) || id);
}

const parse = (step: object): ReportStep => ReportStep.parse(step);
/** A fanned-out step is shown as its elements. */
const isFannedOut = ({ tables }: ReadEntry): boolean => Number(tables.steps?.[0]?.elements ?? 0) > 0;

const EMPTY = {
  ...{
    reason: null,
    invocation_id: null,
    reused_from: null,
    decision: null,
    created_at: null,
    started_at: null,
    finished_at: null,
  },
  ...{
    duration_ms: null,
    attempts: [],
    inputs: null,
    input_hash: null,
    output: null,
    output_hash: null,
    chain_hash: null,
  },
  ...{ error: null, exit_code: null, declared_side_effects: [], observed: null, sandbox: null, hold: null },
};

export function ofStep(run_id: string, { tables }: ReadEntry) {
  const row: Row = tables.steps?.[0] ?? {};
  const element = Number(row.element);
  return {
    step_id: element < 0 ? String(row.step_id) : `${row.step_id}[${element}]`,
    tool_id: String(row.tool_id),
    status: row.status === 'started' ? 'running' : row.status,
    reason: row.reason,
    reused_from: row.reused_from,
    invocation_id: row.has_invocation ? stepInvocationId(run_id, Number(row.step), element < 0 ? null : element) : null,
  };
}

function ofInvocation({ id, tables, chain_hash }: ReadEntry) {
  const row: Row = tables.invocations?.[0] ?? {};
  const [result] = tables.results ?? [];
  const [hold] = tables.holds ?? [];
  const facts = isObject(result?.facts) ? result.facts : {};
  return {
    invocation_id: id,
    tool_id: row.tool_id,
    status: row.status,
    decision: decisionOf(row, result),
    created_at: row.created_at,
    started_at: row.started_at,
    finished_at: row.finished_at,
    attempts: tables.attempts ?? [],
    inputs: row.inputs,
    input_hash: row.input_hash,
    ...(result
      ? {
          ...{
            output: result.payload,
            output_hash: result.output_hash,
            error: result.error,
            exit_code: result.exit_code,
          },
          ...{ duration_ms: result.duration_ms, declared_side_effects: result.declared_side_effects, chain_hash },
          ...{ observed: facts.observed ?? null, sandbox: facts.sandbox ?? null },
        }
      : {}),
    hold: hold ? { ...hold, entries: tables.hold_entries ?? [] } : null,
  };
}

function decisionOf(row: Row, result: Row | undefined): unknown {
  const decision = Decision.safeParse(row.decision).data;
  const error = typeof result?.error === 'string' ? result.error : null;
  const denied = decision && deniedAtRun({ status: String(row.status), decision }, { error, payload: result?.payload });
  return denied ?? row.decision;
}

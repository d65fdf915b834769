import { BUILTIN_TOOLS, createCatalog } from '@capstan/catalog';
import type { Descriptor } from '@capstan/contracts';
import { compilePolicy } from '@capstan/policy';
import type { Runner } from '@capstan/runners';
import type { Settlement } from '@capstan/store/claim';
import { expect, test } from 'vitest';
import { runInvocation } from './pipeline.js';
import { newClaimed } from './testing/new-claimed.js';
import { newWorkerContext } from './testing/new-worker-context.js';

const ADD = 'cap:test_math:add';

/** A worker whose lease ends while the start of a call is being written to the audit. */
function loseLeaseAtStart(risk: Descriptor['risk']) {
  const catalog = createCatalog(BUILTIN_TOOLS.map((tool) => (tool.tool_id === ADD ? { ...tool, risk } : tool)));
  const policy = compilePolicy({
    rules: [{ id: 'all', effect: 'allow', match: { tool: ADD, risk_max: 'HIGH' } }],
  });
  const settled: Settlement[] = [];
  const seen = { held: true, ran: false };
  const runner: Runner = {
    type: 'builtin',
    run: () => {
      seen.ran = true;
      return { success: true, payload: { result: 3 } };
    },
  };
  const worker = newWorkerContext({
    catalog,
    policies: { cached: () => policy, load: async () => policy, refresh: async () => {}, close: () => {} },
    mayBegin: () => seen.held,
    holdsLease: () => seen.held,
    audit: async () => {
      seen.held = false;
    },
    runners: new Map([['builtin', runner]]),
    settle: (_running, settlement) => settled.push(settlement),
  });
  const claimed = newClaimed({ idempotent: false, descriptor_hash: catalog.get(ADD)?.descriptor_hash ?? '' });
  return { worker, claimed, settled, seen };
}

test('a call is not started if its worker loses the lease while the audit event of the start is written', async () => {
  const { worker, claimed, settled, seen } = loseLeaseAtStart('HIGH');
  await runInvocation(worker, claimed);
  expect(seen.ran).toBe(false);
  expect(settled).toEqual([expect.objectContaining({ status: 'queued', outcome: 'handed_back' })]);
});

test('a call whose worker loses the lease after the start is stopped before its effect', async () => {
  const { worker, claimed, settled, seen } = loseLeaseAtStart('LOW');
  let stopped: boolean | null = null;
  const runner: Runner = {
    type: 'builtin',
    run: (call) => {
      const { signal } = call;
      seen.held = false;
      call.beforeEffect();
      stopped = signal.aborted;
      return { success: true, payload: { result: 3 } };
    },
  };
  await runInvocation({ ...worker, runners: new Map([['builtin', runner]]) }, claimed);
  expect(stopped).toBe(true);
  expect(settled).toEqual([expect.objectContaining({ status: 'ambiguous' })]);
});

test('a call of low risk starts without an audit event', async () => {
  const { worker, claimed, settled, seen } = loseLeaseAtStart('LOW');
  await runInvocation(worker, claimed);
  expect(seen).toEqual({ held: true, ran: true });
  expect(settled).toEqual([expect.objectContaining({ status: 'succeeded' })]);
});

import { beforeEach, describe, expect, it } from 'vitest';
import { planRun } from './testing/plan-run.js';
import { run } from './testing/run-in-test.js';
import { withAnswers } from './testing/with-answers.js';

const END = 'x'.repeat(13);
const FIRST = `aaaa1111${END}`;
const SECOND = `aaaa2222${END}`;
const OLD = `bbbb3333${END}`;

let all: string[] = [];
let named: string[] = [];
let pending: string[] = [];
const { seen, env } = withAnswers((request) => {
  const url = new URL(request.split(' ')[1] ?? '', 'http://gateway');
  const from = Number(url.searchParams.get('cursor') ?? 0);
  const limit = Number(url.searchParams.get('limit') ?? 0);
  const shown = all.slice(from, from + limit);
  const next_cursor = from + limit < all.length ? String(from + limit) : null;
  if (url.pathname === '/v1/invocations')
    return { items: shown.map((id) => ({ invocation_id: `inv_${id}`, hold_id: `hld_${id}` })), next_cursor };
  if (url.pathname === '/v1/holds') return { items: pending.map((hold_id) => ({ hold_id })), next_cursor: null };
  if (url.searchParams.has('name')) return { items: named.map((run_id) => planRun({ run_id })), next_cursor: null };
  if (url.pathname === '/v1/runs') return { items: shown.map((id) => planRun({ run_id: `run_${id}` })), next_cursor };
  return planRun();
});
beforeEach(() => {
  all = [FIRST, SECOND, OLD];
  named = [];
  pending = [];
});
const capstan = (...args: string[]) => run(args, { env });
const lastRequest = () => seen.at(-1)?.request;

describe('an id prefix', () => {
  it.each([
    [['cancel', 'inv_aaaa1'], `POST /v1/invocations/inv_${FIRST}/cancel`],
    [['cancel', 'run_aaaa2'], `POST /v1/runs/run_${SECOND}/cancel`],
    [['redrive', 'inv_bbbb'], `POST /v1/invocations/inv_${OLD}/redrive`],
    [['reject', 'hld_bbbb', '--comment', 'no'], `POST /v1/holds/hld_${OLD}/reject`],
    [['withdraw', 'hld_bbbb'], `POST /v1/holds/hld_${OLD}/withdraw`],
    [['show', 'inv_aaaa2', '--json'], `GET /v1/invocations/inv_${SECOND}`],
    [['show', 'run_bbbb', '--json'], `GET /v1/runs/run_${OLD}`],
    [['holds', 'hld_aaaa1', '--json'], `GET /v1/holds/hld_${FIRST}`],
    [['runs', 'pause', 'run_bbbb'], `POST /v1/runs/run_${OLD}/pause`],
    [['report', 'run_bbbb', '--json'], `GET /v1/runs/run_${OLD}/report`],
    [['list', '--run', 'run_bbbb', '--json'], `GET /v1/invocations?run_id=run_${OLD}&limit=20`],
  ])('%j means the only one that has it', async (args, request) => {
    await capstan(...args);
    expect(lastRequest()).toMatch(request);
  });

  it('of a pending hold finds it among any number of newer calls', async () => {
    pending = [`hld_cccc4444${END}`];
    await capstan('withdraw', `hld_cccc4444${END.slice(0, 4)}`);
    expect(lastRequest()).toBe(`POST /v1/holds/hld_cccc4444${END}/withdraw`);
  });

  it('that matches several ids is refused with all of them, and nothing is done', async () => {
    const { code, stderr } = await capstan('cancel', 'inv_aaaa');
    expect(code).toBe(2);
    expect(stderr).toContain(`inv_aaaa… begins 2 ids: inv_${FIRST}, inv_${SECOND}`);
    expect(seen.every(({ request }) => request.startsWith('GET'))).toBe(true);
  });

  it('that matches no id, or has fewer than four characters, is sent to the gateway unchanged', async () => {
    for (const id of ['inv_cccc', 'inv_bbb']) {
      await capstan('cancel', id);
      expect(lastRequest()).toBe(`POST /v1/invocations/${id}/cancel`);
    }
  });

  it('must be longer if there are more ids than are searched', async () => {
    all = [FIRST, ...Array.from({ length: 1_500 }, (_, at) => `cccc${String(at).padStart(17, '0')}`)];
    const { code, stderr } = await capstan('release', 'hld_aaaa1111');
    expect(code).toBe(2);
    expect(stderr).toContain('Pass 12 characters after the _');
    expect(seen.every(({ request }) => request.startsWith('GET /v1/invocations'))).toBe(true);
    await capstan('release', 'hld_aaaa1111xxxx');
    expect(lastRequest()).toBe(`POST /v1/holds/hld_${FIRST}/release`);
    all = [`${FIRST}-2`, ...all.slice(1)];
    expect(await capstan('redrive', 'inv_aaaa1111xxxx')).toMatchObject({ code: 2 });
  });

  it('is not searched for if the id is complete', async () => {
    await capstan('cancel', `inv_${FIRST}`);
    expect(seen).toHaveLength(1);
  });
});

describe('the name of a plan', () => {
  it('stands for its run if it ran once', async () => {
    named = [`run_${FIRST}`];
    await capstan('cancel', 'release-notes');
    expect(seen.map(({ request }) => request)).toEqual([
      'GET /v1/runs?name=release-notes&limit=6',
      `POST /v1/runs/run_${FIRST}/cancel`,
    ]);
  });

  it('is refused if it ran more often', async () => {
    named = [`run_${FIRST}`, `run_${SECOND}`];
    const { code, stderr } = await capstan('cancel', 'release-notes');
    expect(code).toBe(2);
    expect(stderr).toContain(`release-notes is the name of 2 runs: run_${FIRST}, run_${SECOND}`);
    expect(seen).toHaveLength(1);
  });
});

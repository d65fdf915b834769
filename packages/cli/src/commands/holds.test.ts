import { stripVTControlCharacters } from 'node:util';
import type { Grant, Hold, HoldEntry } from '@capstan/contracts';
import { beforeEach, describe, expect, it } from 'vitest';
import { holdInALine } from '../format/hold.js';
import { widthOf } from '../format/width.js';
import { type RunOptions, run } from '../testing/run-in-test.js';
import { problem, withAnswers } from '../testing/with-answers.js';

const HASH = `sha256:${'a'.repeat(64)}`;
const AT = '2026-01-01T12:00:00.000Z';
const VOTE: HoldEntry = {
  at: AT,
  actor: 'ann',
  kind: 'release',
  comment: 'fine by me',
  round: 1,
  input_hash: HASH,
  descriptor_hash: HASH,
  policy_hash: HASH,
  previous_input_hash: null,
  changed: null,
  grant_id: null,
  counts: true,
  identity: null,
};
const HOLD: Hold = {
  hold_id: 'hld_1',
  invocation_id: 'inv_1',
  step_id: null,
  can_decide: { ok: true, why: null },
  run_id: 'run_1',
  tool_id: 'ext:billing:refund',
  actor: 'shop',
  status: 'pending',
  round: 1,
  reason: 'refunds need \u001b[2Jtwo people',
  returned_because: null,
  risk: 'HIGH',
  approvals: { required: 2, allow_self: false, given: 1, given_by: ['ann'] },
  question: null,
  edits: [],
  created_at: AT,
  expires_at: '2026-01-01T12:15:30.000Z',
  decided_at: null,
  decided_by: null,
  inputs: { amount: 250 },
  input_hash: HASH,
  original_inputs: null,
  original_input_hash: null,
  descriptor_hash: HASH,
  policy_hash: HASH,
  rules: [],
  rule_matched: 'refunds',
  effects: null,
  side_effects: ['payments'],
  session_id: null,
  labels: {},
  votes: [VOTE],
  comments: [],
  changes: [],
  approval: null,
};
const GRANT: Grant = {
  grant_id: 'gnt_1',
  kind: 'tool',
  actor: 'ann',
  roles: ['operate'],
  tool_id: 'ext:billing:refund',
  plan_hash: null,
  input_hash: null,
  max_risk: null,
  count: 5,
  used: 2,
  comment: null,
  created_at: AT,
  expires_at: '2026-01-01T14:00:30.000Z',
  revoked_at: null,
};

let heard: (() => void) | null = null;
let answer: unknown = HOLD;
let refused: string | null = null;
const REFUSAL = { status: 409, title: 'x', detail: 'it has been decided', code: 3005, suggestion: 'Look again.' };
let page: { items: Hold[]; next_cursor: string | null } = { items: [HOLD], next_cursor: null };
const { seen, env } = withAnswers((request) => {
  heard?.();
  if (request.startsWith('GET /v1/grants')) return { items: [GRANT], next_cursor: null };
  const [method, path = ''] = request.split(' ');
  if (method === 'POST' && refused !== null && path.includes(refused)) return problem(REFUSAL);
  if (path.startsWith('/v1/holds/')) return answer;
  if (path.startsWith('/v1/holds')) return page;
  return GRANT;
});
beforeEach(() => {
  answer = HOLD;
  refused = null;
  page = { items: [HOLD], next_cursor: null };
  heard = null;
});
const capstan = (args: string[], options: RunOptions = {}) => run(args, { ...options, env });

describe('holds', () => {
  it.each([
    [true, 'may release it: there is no second person yet'],
    [false, 'may not release it: there is no second person yet'],
  ])('says why you may release a hold, or may not (ok: %s)', async (ok, said) => {
    answer = { ...HOLD, can_decide: { ok, why: 'there is no second person yet' } };
    const { stdout } = await capstan(['holds', 'hld_1']);
    expect(stdout).toMatch(new RegExp(`you +${said}`));
  });

  it('shows earlier decisions on the same tool', async () => {
    answer = {
      counts: { released: 3, rejected: 1 },
      items: [
        {
          ...HOLD,
          status: 'released',
          decided_by: 'ann',
          decided_at: AT,
          comment: 'ok',
          differs: ['amount'],
          outcome: 'failed',
        },
      ],
    };
    const { stdout } = await capstan(['holds', 'hld_1', '--similar'], { columns: 80 });
    expect(seen[0]?.request).toBe('GET /v1/holds/hld_1/similar');
    expect(stdout).toContain('Before: 3 released, 1 rejected');
    expect(stdout).toMatch(/hld_1 +released +ann +30s ago +failed +other amount +ok/);
  });

  it('releases all that match a filter, as they were when they were counted', async () => {
    answer = { decided: 1, refused: 0, items: [{ hold_id: 'hld_1', ok: true, status: 'released' }], more: false };
    expect(await capstan(['release', '--rule', 'refunds', '--yes'])).toMatchObject({
      code: 0,
      stdout: '✓ 1 held call approved\n',
    });
    expect(seen.map(({ request }) => request)).toEqual([
      'GET /v1/holds?rule=refunds&limit=1000',
      'POST /v1/holds/decide',
    ]);
    expect(seen[1]?.body).toEqual({ hold_ids: ['hld_1'], decision: 'release', input_hashes: { hld_1: HASH } });
  });

  it('decides on nothing without a selection', async () => {
    expect(await capstan(['reject', '--comment', 'no'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no ids or filter given'),
    });
    expect(seen).toEqual([]);
  });

  it('lists pending holds as plain lines in a pipe', async () => {
    const { code, stdout } = await capstan(['holds', '--tool', 'ext:billing:refund', '--risk', 'HIGH']);
    expect(code).toBe(0);
    expect(seen[0]?.request).toBe(
      'GET /v1/holds?tool_id=ext%3Abilling%3Arefund&risk=HIGH&status=pending&sort=created_at&limit=20',
    );
    expect(stdout).toContain('hld_1  pending  ext:billing:refund  amount=250  30s  -     HIGH  shop    1/2  in 15m');
    expect(stdout).not.toContain('\u001b');
  });

  it('shows what a decision needs in 80 columns: the call, its inputs, its age and its step', async () => {
    const step = {
      ...HOLD,
      hold_id: 'hld_AbCdEfGhIjKlMnOpQrStU-1',
      invocation_id: 'inv_AbCdEfGhIjKlMnOpQrStU-1',
      run_id: 'run_AbCdEfGhIjKlMnOpQrStU',
      step_id: 'pay',
      inputs: { memo: 'x'.repeat(100), amount: 250, to: 'ann', cc: null },
    };
    page = { items: [step], next_cursor: null };
    const { stdout } = await capstan(['holds', '--once'], { tty: true, columns: 80 });
    const [heading = '', line = ''] = stripVTControlCharacters(stdout).split('\n');
    expect(heading).toMatch(/^HOLD +TOOL +INPUTS +AGE +STEP *$/);
    expect(line).toMatch(/^hld_AbCdEfGhIjKlMnOpQrStU-1 {2}\S+:refund {2}amount=250 to=a… {2}30s {2}pay of r.*…$/);
    expect(widthOf(line)).toBeLessThanOrEqual(80);
  });

  it('cuts ids of lone calls to a prefix that commands accept where the inputs need the room', async () => {
    const items = ['A', 'B'].map((letter) => ({
      ...HOLD,
      hold_id: `hld_P6kcOBdQ${letter.repeat(13)}`,
      invocation_id: `inv_P6kcOBdQ${letter.repeat(13)}`,
      run_id: `run_P6kcOBdQ${letter.repeat(13)}`,
      inputs: { amount: 250, to: 'ann', memo: 'for the broken lamp' },
    }));
    page = { items, next_cursor: null };
    const list = async (columns: number) => (await capstan(['holds', '--once'], { tty: true, columns })).stdout;
    const [, line = ''] = stripVTControlCharacters(await list(80)).split('\n');
    expect(line).toMatch(/^hld_P6kcOBdQAAAA {2}\S+ {2}amount=250 to=ann memo=for/);
    expect(widthOf(line)).toBeLessThanOrEqual(80);
    expect(await list(150)).toContain(items[0]?.hold_id);
    expect((await capstan(['holds', '--once'])).stdout).toContain(items[0]?.hold_id);
    // Two ids that share their prefix stay whole.
    page.items = items.map((hold, at) => ({ ...hold, hold_id: `hld_P6kcOBdQAAAA${String(at).repeat(9)}` }));
    expect(await list(80)).toContain(page.items[1]?.hold_id);
  });

  it('refreshes the list on a terminal until it is interrupted', async () => {
    const interrupt = new AbortController();
    heard = () => {
      if (seen.length === 2) interrupt.abort();
    };
    const { code, stdout } = await capstan(['holds'], { tty: true, columns: 100, interrupt: interrupt.signal });
    expect(code).toBe(0);
    expect(stdout.split('HOLD').length).toBeGreaterThan(2);
  });

  /** The output of the first two refreshes, without colors. */
  const live = async (columns: number, rows: number) => {
    const interrupt = new AbortController();
    heard = () => {
      if (seen.length === 2) interrupt.abort();
    };
    const { stdout } = await capstan(['holds'], { tty: true, columns, rows, interrupt: interrupt.signal });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are moved by them
    const [first = '', up = '', second = ''] = stdout.split(/\u001b\[(\d+)A/);
    const linesOf = (text: string) => stripVTControlCharacters(text).trimEnd().split('\n');
    return { first: linesOf(first), up: Number(up), second: linesOf(second) };
  };
  const many = (count: number): Hold[] =>
    Array.from({ length: count }, (_, at) => ({
      ...HOLD,
      hold_id: `hld_${String(at).padStart(21, '0')}`,
      reason: '人が確認する必要があります, whatever it takes to have it looked at',
    }));

  it.each([
    [80, 24],
    [40, 10],
    [20, 5],
    [200, 50],
  ])('redraws the list on a terminal of %d by %d', async (columns, rows) => {
    page = { items: many(30), next_cursor: 'x' };
    const { first, up, second } = await live(columns, rows);
    expect(Math.max(...first.map(widthOf))).toBeLessThanOrEqual(columns);
    expect(first.length).toBeLessThan(rows);
    expect(up).toBe(first.length);
    expect(second).toEqual(first);
  });

  it('shows how many holds do not fit the terminal and the limit', async () => {
    page = { items: many(30), next_cursor: 'x' };
    const { first } = await live(80, 24);
    expect(first[1]).toMatch(/^hld_0{21} {2}/);
    expect(first.at(-2)).toBe('… 10 more, and more beyond --limit 20');
    expect((await capstan(['holds'])).stderr).toBe('… more beyond --limit 20\n');
  });

  it('adds a comment to a hold', async () => {
    expect(await capstan(['holds', 'comment', 'hld_1', 'who', 'is this for?'])).toMatchObject({ code: 0 });
    expect(seen).toEqual([{ request: 'POST /v1/holds/hld_1/comments', body: { comment: 'who is this for?' } }]);
  });

  it('marks votes that were given in advance', async () => {
    answer = { ...HOLD, votes: [{ ...VOTE, grant_id: 'gnt_1' }] };
    expect((await capstan(['holds', 'hld_1'])).stdout).toContain(
      'ann: release (given in advance by gnt_1) “fine by me”',
    );
  });

  it('shows a hold in full', async () => {
    const { stdout } = await capstan(['holds', 'hld_1']);
    for (const part of [
      'refunds need',
      '1 of 2 by ann (operate)',
      'payments',
      '"amount": 250',
      'ann: release “fine by me”',
      HASH,
    ])
      expect(stdout).toContain(part);
    expect(stdout).not.toContain('\u001b');
    expect(JSON.parse((await capstan(['holds', 'hld_1', '--json'])).stdout)).toEqual(HOLD);
    expect((await capstan(['show', 'hld_1'])).stdout).toBe(stdout);
  });

  it('shows the outcome of a decided hold in a column', async () => {
    const comments: HoldEntry[] = [{ ...VOTE, at: '2026-01-01T11:48:00.000Z', actor: 'bob', kind: 'comment' }];
    answer = { ...HOLD, comments };
    const { stdout } = await capstan(['holds', 'hld_1']);
    const [first, second] = ['bob: comment', 'ann: release'].map((what) =>
      stdout
        .split('\n')
        .find((line) => line.includes(what))
        ?.indexOf(what),
    );
    expect(first).toBe(second);
  });
});

describe('release and reject', () => {
  it('release the reviewed inputs, and no others', async () => {
    expect(await capstan(['release', 'hld_1', '--comment', 'ok'])).toMatchObject({ code: 0 });
    expect(seen).toEqual([
      { request: 'GET /v1/holds/hld_1', body: null },
      { request: 'POST /v1/holds/hld_1/release', body: { comment: 'ok', input_hash: HASH } },
    ]);
  });

  it('release a hold with edited inputs', async () => {
    await capstan(['release', 'hld_1', '--inputs', '{"amount": 100}']);
    expect(seen[1]?.body).toEqual({ inputs: { amount: 100 }, input_hash: HASH });
    expect(await capstan(['release', 'hld_1', '--inputs', 'amount=100'])).toMatchObject({ code: 2 });
  });

  it('take several ids, report a refused one and continue with the rest', async () => {
    refused = 'hld_2';
    for (const args of [['release'], ['reject', '--comment', 'no']]) {
      seen.length = 0;
      const { code, stdout, stderr } = await capstan([...args, 'hld_1', 'hld_2', 'hld_3']);
      const acted = seen.map(({ request }) => request).filter((request) => request.endsWith(`/${args[0]}`));
      expect(acted).toEqual(['hld_1', 'hld_2', 'hld_3'].map((id) => `POST /v1/holds/${id}/${args[0]}`));
      expect(code).not.toBe(0);
      expect(stdout.split('\n')).toHaveLength(5);
      expect(stderr).toContain('hld_2:\n✗ it has been decided');
    }
  });

  it('accept edited inputs for a single call only', async () => {
    expect(await capstan(['release', 'hld_1', 'hld_2', '--inputs', '{}'])).toMatchObject({ code: 2 });
    expect(seen).toEqual([]);
  });

  it('report the outcome and the next step in two lines', async () => {
    const twoLines = async (args: string[], hold: Partial<Hold>) => {
      answer = { ...HOLD, ...hold };
      return (await capstan(args)).stdout;
    };
    const by = { decided_by: 'bob', decided_at: AT };
    const all = { ...HOLD.approvals, given: 2, given_by: ['ann', 'bob'] };
    expect(await twoLines(['release', 'hld_1'], {})).toBe(
      'hld_1 pending  ext:billing:refund\n  → 1 of 2 votes; it waits for others: capstan holds hld_1\n',
    );
    expect(await twoLines(['release', 'hld_1'], { status: 'released', approvals: all, ...by })).toBe(
      'hld_1 released by ann, bob  ext:billing:refund\n  → It runs: capstan logs -f inv_1\n',
    );
    expect(await twoLines(['reject', 'hld_1', '--comment', 'no'], { status: 'rejected', ...by })).toBe(
      'hld_1 rejected by bob  ext:billing:refund\n  → It does not run: capstan show inv_1\n',
    );
  });

  it('show the edits of the inputs', async () => {
    const edit = { at: AT, actor: 'bob', changed: ['amount'], previous_input_hash: HASH, input_hash: HASH };
    answer = { ...HOLD, original_inputs: { amount: 900 }, original_input_hash: HASH, edits: [edit] };
    expect((await capstan(['holds', 'hld_1'])).stdout).toContain('~ amount: 900 → 250 by bob');
  });

  it('withdraw the own call', async () => {
    expect(await capstan(['withdraw', 'hld_1'])).toMatchObject({ code: 0 });
    expect(seen).toEqual([{ request: 'POST /v1/holds/hld_1/withdraw', body: {} }]);
  });

  it('reject a hold with a reason, which is required', async () => {
    expect(await capstan(['reject', 'hld_1', '--comment', 'too much'])).toMatchObject({ code: 0 });
    expect(seen).toEqual([{ request: 'POST /v1/holds/hld_1/reject', body: { comment: 'too much' } }]);
    expect(await capstan(['reject', 'hld_1'])).toMatchObject({ code: 2 });
  });
});

describe('grant', () => {
  it('adds a vote for the next calls of a tool', async () => {
    const { stdout } = await capstan([
      'grant',
      'ext:billing:refund',
      '-n',
      '5',
      '--expires',
      '2h',
      '--max-risk',
      'HIGH',
    ]);
    expect(seen).toEqual([
      {
        request: 'POST /v1/grants',
        body: { kind: 'tool', tool_id: 'ext:billing:refund', count: 5, expires_in_ms: 7_200_000, max_risk: 'HIGH' },
      },
    ]);
    expect(stdout).toContain('gnt_1  5 of ext:billing:refund');
    expect(await capstan(['grant'])).toMatchObject({ code: 2 });
  });

  it('adds a vote for a plan, lists grants and revokes them', async () => {
    await capstan(['grant', '--plan', HASH]);
    expect(seen[0]?.body).toEqual({ kind: 'plan', plan_hash: HASH });
    expect((await capstan(['grant', 'list'])).stdout).toContain('gnt_1  ext:billing:refund   2/5  ann  in 2h');
    await capstan(['grant', 'revoke', 'gnt_1']);
    expect(seen.at(-1)?.request).toBe('DELETE /v1/grants/gnt_1');
  });
});

it('a hold that was returned shows the reason in its line of the invocation', () => {
  const back: Hold = { ...HOLD, round: 2, returned_because: 'the tool has changed since the release' };
  expect(holdInALine(back)).toBe('hld_1 pending again: the tool has changed since the release');
  expect(holdInALine({ ...back, status: 'rejected', decided_by: 'bob' })).toBe('hld_1 rejected by bob');
});

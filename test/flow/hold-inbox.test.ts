import type { Client } from '@capstan/client';
import type { JsonObject } from '@capstan/contracts';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { eventually } from '../fixtures/eventually.js';
import { ADD, HOLD_POLICY, newActor, onHeldSums, submitHeld, WEATHER } from './on-held-sums.js';
import { refusalOf } from './refusal-of.js';

onHeldSums((holds) => {
  test('a list of holds has what a person needs to decide, with secrets taken out', async () => {
    const secret = `ghp_${'aB3dE6gH9j'.repeat(4).slice(0, 36)}`;
    const city = `Bern ${secret}`;
    const { run_id, hold_id } = await holds.asker.submit({ tool_id: WEATHER, inputs: { city } });
    const { items } = await holds.bob.holds.list({ run_id }).page();
    expect(items).toMatchObject([
      {
        hold_id,
        run_id,
        step_id: null,
        risk: 'LOW',
        inputs: { city: expect.stringMatching(/^Bern /) },
        rules: expect.arrayContaining([expect.objectContaining({ id: 'weather', matched: true })]),
        votes: [],
        can_decide: { ok: false, why: 'only carol may decide on it' },
      },
    ]);
    const whole = await holds.bob.holds.get(hold_id ?? '');
    for (const shown of [items, whole]) expect(JSON.stringify(shown)).not.toContain(secret);
    await holds.asker.holds.withdraw(hold_id ?? '');
  });

  test('an edit keeps secrets that were not shown, and is refused if it would overwrite one with its placeholder', async () => {
    const secret = `ghp_${'kL4mN7pQ2r'.repeat(4).slice(0, 36)}`;
    const carol = await newActor(holds.system, 'carol', ['operate']);
    const asked = await holds.asker.submit({ tool_id: WEATHER, inputs: { city: `Bern ${secret}` } });
    const hold_id = asked.hold_id ?? '';
    const { inputs, input_hash } = await carol.holds.get(hold_id);
    expect(inputs).toEqual({ city: 'Bern [REDACTED]' });
    const refused = await refusalOf(carol.holds.release(hold_id, { inputs: { city: 'Rome [REDACTED]' } }));
    expect(refused).toMatchObject({ code: 2002, detail: expect.stringContaining('inputs.city') });
    expect(await carol.holds.release(hold_id, { inputs })).toMatchObject({ status: 'released', input_hash, edits: [] });
  });

  test('a rule proposed from a hold allows exactly such calls, once an admin has put it in force', async () => {
    const { admin, clientFor } = holds.system;
    const put = await admin.policies.put('default', `# why sums wait\n${JSON.stringify(HOLD_POLICY)}`);
    const { hold_id } = await submitHeld(holds, { a: 41, b: 1 });
    const ofBob = await holds.bob.policies.propose(hold_id);
    expect(ofBob.policy).toBeNull();
    const proposal = await admin.policies.propose(hold_id);
    expect(proposal).toMatchObject({
      rule: ofBob.rule,
      covers: {
        tenant: 'default',
        tool_id: ADD,
        actor: 'asker',
        inputs: { a: 41, b: 1 },
        any_input: [],
        exact: true,
        holds: ['one-person'],
      },
      what_if: { changes: { 'hold → allow': 1 }, items: [{ actor: 'asker', was: { effect: 'hold' } }] },
      policy: { name: 'default', version: put.version, text: expect.stringContaining('# why sums wait') },
    });
    expect(parse(proposal.yaml)).toEqual([proposal.rule]);

    const { name, version, text } = proposal.policy ?? { name: '', version: 0, text: '' };
    await admin.policies.put(name, text, { if_version: version });
    const ask = async (client: Client, inputs: JsonObject) => (await client.submit({ tool_id: ADD, inputs })).status;
    expect(await ask(holds.asker, { a: 41, b: 1 })).toBe('queued');
    for (const inputs of [
      { a: 41, b: 2 },
      { a: 42, b: 1 },
    ])
      expect(await ask(holds.asker, inputs)).toBe('held');
    expect(await ask(holds.ann, { a: 41, b: 1 })).toBe('held');
    const { key } = await admin.keys.create({ tenant: 'other', actor: 'asker', roles: ['submit'] });
    expect(await ask(clientFor(key), { a: 41, b: 1 })).toBe('held');
    expect((await refusalOf(admin.policies.propose(hold_id))).detail).toContain('does not hold such a call any more');
    expect((await refusalOf(admin.policies.put(name, text, { if_version: version }))).status).toBe(412);
    await admin.policies.put('default', HOLD_POLICY);
    await holds.bob.holds.decide({ filter: { tool_id: ADD }, decision: 'reject', comment: 'done with these' });
  });

  test('a proposed rule covers the inputs that were named, and never one that contains a secret', async () => {
    const { admin } = holds.system;
    const { hold_id } = await submitHeld(holds, { a: 51, b: 3 });
    const { covers, rule } = await admin.policies.propose(hold_id, { inputs: ['b'] });
    expect(covers).toMatchObject({ inputs: { b: 3 }, any_input: ['a'], exact: false });
    expect(rule.if).toBe('"b" in inputs && inputs["b"] == 3');
    expect((await refusalOf(admin.policies.propose(hold_id, { inputs: ['c'] }))).detail).toContain('no input "c"');
    const city = `Bern ghp_${'sT8uV1wX4y'.repeat(4).slice(0, 36)}`;
    const secret = await holds.asker.submit({ tool_id: WEATHER, inputs: { city } });
    const refused = await refusalOf(admin.policies.propose(secret.hold_id ?? ''));
    expect(refused.detail).toContain('"city"');
    expect(JSON.stringify(refused)).not.toContain('ghp_');
    for (const id of [hold_id, secret.hold_id ?? '']) await holds.asker.holds.withdraw(id);
  });

  test('a held step of a plan says which step it is', async () => {
    const step = (id: string, a: number) => ({ id, tool: ADD, args: { a, b: 1 }, needs: [] });
    const { run_id } = await holds.asker.runs.submit({ plan: { steps: [step('first', 1), step('second', 2)] } });
    const pending = async () => (await holds.bob.holds.list({ run_id }).page()).items;
    await eventually(async () => (await pending()).length === 2);
    expect((await pending()).map(({ step_id }) => step_id).sort()).toEqual(['first', 'second']);
    await holds.asker.runs.cancel(run_id);
  });

  test('a hold tells each reader whether they may decide it, and if not, why', async () => {
    const { hold_id } = await submitHeld(holds, { a: 100, b: 1 });
    const auditor = await newActor(holds.system, 'auditor', ['audit']);
    const whyNot = async (client: typeof auditor) => (await client.holds.get(hold_id)).can_decide;
    expect(await whyNot(auditor)).toEqual({ ok: false, why: 'deciding on it needs the role operate' });
    expect(await whyNot(holds.asker)).toEqual({ ok: false, why: 'the submitter of a call may not release it' });
    expect(await whyNot(holds.ann)).toEqual({ ok: true, why: null });
    await holds.ann.holds.release(hold_id);
    expect(await whyNot(holds.ann)).toEqual({ ok: false, why: 'you have agreed to it; it waits for others' });
    const { items } = await holds.bob.holds.list({ rule: 'two-people' }).page();
    expect(items.find((item) => item.hold_id === hold_id)).toMatchObject({
      votes: [{ kind: 'release', actor: 'ann', counts: true, identity: null }],
      can_decide: { ok: true },
    });
    await holds.bob.holds.reject(hold_id, 'enough');
    expect(await whyNot(holds.bob)).toEqual({ ok: false, why: 'it is rejected already' });
  });

  test('a list of holds is filtered by run, rule and actor, and those that expire soonest come first if asked', async () => {
    const [late, soon] = [
      await submitHeld(holds, { a: 1, b: 1 }),
      await submitHeld(holds, { a: 2, b: 2 }, { expires_in_ms: 60_000 }),
    ];
    const ids = async (filter: object) => {
      const found: string[] = [];
      for await (const { hold_id } of holds.bob.holds.list({ actor: 'asker', limit: 1, ...filter }))
        found.push(hold_id);
      return found;
    };
    expect(await ids({ rule: 'one-person' })).toEqual([soon.hold_id, late.hold_id]);
    expect(await ids({ sort: 'expires_at' })).toEqual([soon.hold_id, late.hold_id]);
    expect(await ids({ sort: 'created_at' })).toEqual([soon.hold_id, late.hold_id]);
    expect(await ids({ run_id: late.invocation.run_id })).toEqual([late.hold_id]);
    expect(await ids({ rule: 'two-people' })).toEqual([]);
    expect(await ids({ actor: 'ann' })).toEqual([]);
    const last = await submitHeld(holds, { a: 3, b: 3 });
    expect(await ids({ sort: 'expires_at' })).toEqual([soon.hold_id, late.hold_id, last.hold_id]);
    await holds.bob.holds.decide({ filter: { actor: 'asker' }, decision: 'reject', comment: 'done with these' });
    expect(await ids({})).toEqual([]);
  });

  test('fifty holds are decided at once: each gets a vote, and those that are refused are listed', async () => {
    const { items } = await holds.asker.submitBulk(
      Array.from({ length: 50 }, (_, at) => ({ tool_id: ADD, inputs: { a: at, b: 1 } })),
    );
    const hold_ids = items.map(({ hold_id = '' }) => hold_id);
    const own = await holds.ann.submit({ tool_id: ADD, inputs: { a: 1, b: 1 } });
    const sent = [...hold_ids, own.hold_id ?? '', 'hld_nowhere', hold_ids[0] ?? ''];
    const answer = await holds.ann.holds.decide({ hold_ids: sent, decision: 'release', comment: 'all of them' });
    expect(answer).toMatchObject({ decided: 50, refused: 2, more: false });
    expect(answer.items.filter(({ ok }) => !ok)).toMatchObject([
      { hold_id: own.hold_id, problem: { code: 6002, detail: expect.stringContaining('may not release it') } },
      { hold_id: 'hld_nowhere', problem: { code: 3004 } },
    ]);
    await Promise.all(
      items.map(async ({ invocation_id = '' }) =>
        expect((await holds.asker.wait(invocation_id, { timeout_s: 60 })).status).toBe('succeeded'),
      ),
    );
    await holds.bob.holds.reject(own.hold_id ?? '', 'not mine');
  });

  test('a bulk decision refuses an empty filter, a rejection without a reason, and inputs that have changed since', async () => {
    const { hold_id } = await submitHeld(holds, { a: 5, b: 5 });
    const refused = [
      { filter: {}, decision: 'release' },
      { hold_ids: [hold_id], decision: 'reject' },
      { hold_ids: [hold_id], filter: { actor: 'asker' }, decision: 'release' },
      { decision: 'release' },
    ] as const;
    for (const body of refused) expect((await refusalOf(holds.bob.holds.decide(body as never))).code).toBe(3002);
    const input_hashes = { [hold_id]: `sha256:${'0'.repeat(64)}` };
    expect(await holds.bob.holds.decide({ hold_ids: [hold_id], decision: 'release', input_hashes })).toMatchObject({
      decided: 0,
      items: [{ problem: { code: 3005 } }],
    });
    await holds.bob.holds.reject(hold_id, 'enough');
  });

  test('earlier decisions on the same tool are listed with the outcome of each call', async () => {
    const tool_id = WEATHER;
    const carol = await newActor(holds.system, 'carol', ['operate']);
    const ask = (city: string) => holds.asker.submit({ tool_id, inputs: { city } });
    const [bern, rome, again] = [await ask('Bern'), await ask('Rome'), await ask('Bern')];
    await carol.holds.release(bern.hold_id ?? '', { comment: 'sunny' });
    await holds.asker.wait(bern.invocation_id, { timeout_s: 60 });
    await carol.holds.reject(rome.hold_id ?? '', 'too far');
    const { counts, items } = await carol.holds.similar(again.hold_id ?? '');
    expect({ counts, items: items.slice(0, 3) }).toMatchObject({
      counts: { released: 2, rejected: 1, withdrawn: 2 },
      items: [
        {
          hold_id: rome.hold_id,
          status: 'rejected',
          decided_by: 'carol',
          comment: 'too far',
          differs: ['city'],
          outcome: 'rejected',
        },
        {
          hold_id: bern.hold_id,
          status: 'released',
          comment: 'sunny',
          differs: [],
          outcome: 'succeeded',
          inputs: { city: 'Bern' },
        },
        { status: 'withdrawn', outcome: 'canceled' },
      ],
    });
    const { key } = await holds.system.admin.keys.create({ tenant: 'other', actor: 'eve', roles: ['operate'] });
    const eve = holds.system.clientFor(key);
    expect((await refusalOf(eve.holds.similar(again.hold_id ?? ''))).code).toBe(3004);
    expect(await eve.holds.decide({ hold_ids: [again.hold_id ?? ''], decision: 'release' })).toMatchObject({
      decided: 0,
    });
    expect(await eve.holds.decide({ filter: { tool_id }, decision: 'release' })).toMatchObject({ items: [] });
  });
});

import { randomInt } from 'node:crypto';
import { hashJson } from '@capstan/integrity';
import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { findProcess } from '../fixtures/find-process.js';
import { queues } from '../fixtures/queues.js';
import { ALLOW_ALL, type System, startSystem } from './start-system.js';

const add = (a: number, b: number) => ({ tool_id: 'cap:test_math:add', inputs: { a, b } });
const shell = (...cmd: string[]) => ({ tool_id: 'shell.run', inputs: { cmd } });

describe.each(queues)('an invocation on the $name queue', (queue) => {
  let system: System;
  beforeAll(async () => {
    system = await startSystem(queue);
    await system.admin.policies.put('default', ALLOW_ALL);
  });

  test('runs, and the waiting caller gets its result with both hashes', async () => {
    const done = await system.admin.submit(add(2, 3), { wait_s: 30 });
    expect(done).toMatchObject({ status: 'succeeded', attempt: 1, result: { success: true, payload: { result: 5 } } });
    expect(done.input_hash).toBe(hashJson({ a: 2, b: 3 }));
    expect(done.result?.output_hash).toBe(hashJson({ result: 5 }));
    expect(done.run_id).toBe(done.invocation_id.replace('inv_', 'run_'));
  });

  test('is answered at once if the caller does not wait, and can be followed to its end', async () => {
    const taken = await system.admin.submit(add(1, 1));
    expect(taken.status).toBe('queued');
    const seen: string[] = [];
    for await (const event of system.admin.events(taken.invocation_id))
      seen.push(event.event === 'status' ? event.data.status : event.event);
    expect(seen).toEqual(['queued', 'running', 'succeeded', 'result']);
  });

  test('keeps its attempts on record', async () => {
    const { invocation_id } = await system.admin.submit(add(1, 1), { wait_s: 30 });
    const { attempts } = await system.admin.get(invocation_id);
    expect(attempts).toMatchObject([{ attempt: 1, outcome: 'succeeded', error: null }]);
  });

  test('fails without a retry if the tool reports an error that a retry cannot mend, with code and message', async () => {
    const done = await system.admin.submit({ tool_id: 'cap:test_math:divide', inputs: { a: 1, b: 0 } }, { wait_s: 30 });
    expect(done).toMatchObject({
      status: 'failed',
      attempt: 1,
      result: { success: false, error: 'Division by zero', code: 2003 },
    });
  });

  test('is retried if that can help, and ends failed after the last attempt', async () => {
    const done = await system.admin.submit({ ...shell('false'), max_attempts: 2 }, { wait_s: 30 });
    expect(done).toMatchObject({ status: 'failed', attempt: 2, result: { exit_code: 1, code: 2003 } });
    const { attempts } = await system.admin.get(done.invocation_id);
    expect(attempts.map((attempt) => attempt.outcome)).toEqual(['failed', 'failed']);
  });

  test('is stopped at its deadline, and its output up to then is kept', async () => {
    const done = await system.admin.submit(
      { ...shell('sh', '-c', 'echo begun; exec sleep 60'), timeout_ms: 700 },
      { wait_s: 30 },
    );
    expect(done).toMatchObject({ status: 'timed_out', result: { code: 2004, payload: { stdout: 'begun\n' } } });
    expect(done.result?.error).toContain('[TIMEOUT after 0.7s]');
  });

  test('is canceled while it runs, and its process is gone', async () => {
    const mark = `60.${randomInt(1_000_000_000)}`;
    const { invocation_id } = await system.admin.submit(shell('sh', '-c', `echo up; exec sleep ${mark}`));
    for await (const event of system.admin.events(invocation_id)) {
      // Without bubblewrap, the shell around the sandbox reports the end on stderr.
      if (event.event !== 'log' || event.data.stream !== 'stdout') continue;
      await eventually(() => expect(findProcess('sleep', mark)).toBeGreaterThan(0));
      await system.admin.cancel(invocation_id);
    }
    expect((await system.admin.get(invocation_id)).status).toBe('canceled');
    await eventually(() => expect(findProcess('sleep', mark)).toBeUndefined());
  });

  test('is canceled before it starts', async () => {
    const { invocation_id } = await system.admin.submit({ ...add(1, 1), delay_ms: 600_000 });
    expect(await system.admin.cancel(invocation_id)).toMatchObject({ status: 'canceled' });
    await expect(system.admin.redrive(invocation_id)).rejects.toMatchObject({ status: 409, code: 3005 });
  });

  test('starts after its delay and not before, by the clock of Postgres', async () => {
    const taken = await system.admin.submit({ ...add(1, 1), delay_ms: 400 });
    expect(taken.status).toBe('deferred');
    const done = await system.admin.wait(taken.invocation_id, { timeout_s: 60 });
    expect(done.status).toBe('succeeded');
    const started = done.attempts[0]?.started_at ?? '';
    expect(Date.parse(started) - Date.parse(done.created_at)).toBeGreaterThanOrEqual(400);
  });

  test('starts at once if its run_at is in the past', async () => {
    const done = await system.admin.submit({ ...add(1, 1), run_at: '2020-01-01T00:00:00Z' }, { wait_s: 30 });
    expect(done.status).toBe('succeeded');
  });

  test('expires if it has not started within expires_in_ms', async () => {
    const taken = await system.admin.submit({ ...add(1, 1), delay_ms: 600_000, expires_in_ms: 100 }, { wait_s: 30 });
    expect(taken.status).toBe('expired');
  });

  test('streams its output line by line, and a resumed stream goes on where it stopped', async () => {
    const { invocation_id } = await system.admin.submit(
      shell('sh', '-c', 'for i in 1 2 3; do echo $i; sleep 0.05; done'),
    );
    const first: string[] = [];
    let last_event_id = '';
    for await (const event of system.admin.events(invocation_id)) {
      if (event.event !== 'log') continue;
      first.push(event.data.text);
      last_event_id = event.id;
      break;
    }
    const rest: string[] = [];
    for await (const event of system.admin.events(invocation_id, { last_event_id }))
      if (event.event === 'log') rest.push(event.data.text);
    expect([...first, ...rest].join('')).toBe('1\n2\n3\n');
  });

  test('that is redriven runs again, keeps its earlier attempts, and streams its second end', async () => {
    const failed = await system.admin.submit(shell('false'), { wait_s: 30 });
    let last_event_id = '';
    for await (const { id } of system.admin.events(failed.invocation_id)) last_event_id = id;
    await system.admin.queues.pause('exec');
    const redriven = await system.admin.redrive(failed.invocation_id);
    expect(redriven).toMatchObject({ status: 'queued', result: null });
    await system.admin.queues.resume('exec');
    const again = await system.admin.wait(failed.invocation_id, { timeout_s: 60 });
    expect(again).toMatchObject({ status: 'failed', attempt: 2 });
    // A reader who saw the first end also gets the second.
    const seen: string[] = [];
    for await (const { event } of system.admin.events(failed.invocation_id, { last_event_id })) seen.push(event);
    expect(seen).toEqual(expect.arrayContaining(['status', 'result']));
  });

  test('with a known idempotency key is the first one, and is refused if its inputs differ', async () => {
    const one = { ...add(4, 4), idempotency_key: 'only-once' };
    const first = await system.admin.submit(one, { wait_s: 30 });
    const second = await system.admin.submit(one, { wait_s: 30 });
    expect(second).toEqual(first);
    await expect(system.admin.submit({ ...one, inputs: { a: 5, b: 5 } })).rejects.toMatchObject({
      status: 409,
      code: 3006,
    });
  });

  test('waits while its queue is paused, and then starts in the order of priority, lowest number first', async () => {
    const paused = await system.admin.queues.pause('exec');
    expect(paused).toMatchObject({ runner: 'exec', paused: true });
    await eventually(() => expect(system.worker.paused()).toEqual(['exec']));
    const submissions = [5, 1, -3].map((priority) =>
      system.admin.submit({ ...shell('true'), priority, labels: { test: 'order' } }),
    );
    for (const { status } of await Promise.all(submissions)) expect(status).toBe('queued');
    await system.admin.queues.resume('exec');
    const done = await Promise.all(
      (await Promise.all(submissions)).map(({ invocation_id }) => system.admin.wait(invocation_id, { timeout_s: 60 })),
    );
    const started = (priority: number) => done.find((one) => one.priority === priority)?.attempts[0]?.started_at ?? '';
    const order = [started(-3), started(1), started(5)];
    expect(order).toEqual([...order].sort());
  });
});

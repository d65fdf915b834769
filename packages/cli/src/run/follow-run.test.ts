import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Run, Step } from '@capstan/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AT, planRun } from '../testing/plan-run.js';
import { run } from '../testing/run-in-test.js';

const RUN = planRun({ total_steps: 1 });
const step = (status: Step['status']): Omit<Step, 'result'> => ({
  step_id: 'pay',
  index: 0,
  element: null,
  name: null,
  tool_id: 'x',
  status,
  invocation_id: 'inv_1',
  reason: null,
  started_at: null,
  finished_at: null,
  duration_ms: null,
  reused_from: null,
});

/** A gateway with one run, which tells of it what a test wants. */
let state: Run = RUN;
let tell: (send: (event: 'step' | 'run', data: object) => void, response: ServerResponse) => void;
const env: Record<string, string> = { CAPSTAN_API_KEY: 'good' };
const gateway = createServer((request, response) => {
  if (!request.url?.endsWith('/events')) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...state, plan: { steps: [{ id: 'pay', tool: 'x' }] } }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let id = 0;
  tell((event, data) => {
    id += 1;
    response.write(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }, response);
});
beforeAll(async () => {
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  env.CAPSTAN_URL = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
});
beforeEach(() => {
  state = RUN;
});
afterAll(() => {
  gateway.closeAllConnections();
  gateway.close();
});

describe('a run that is followed', () => {
  it('continues if a held step is released within a moment', async () => {
    tell = (send, response) => {
      send('step', step('held'));
      setTimeout(() => {
        state = { ...RUN, status: 'completed', completed_steps: 1, finished_at: AT };
        send('step', step('running'));
        send('step', step('succeeded'));
        send('run', state);
        response.end();
      }, 300);
    };
    const { code, stdout, stderr } = await run(['show', 'run_1', '--follow'], { env });
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '⏸ held  pay  x  hld_1\n✓ succeeded  pay  x\n✓ completed  notes  run_1\n',
      stderr: '',
    });
  });

  it('stops if a held step waits for a person and nothing else is running', async () => {
    tell = (send) => send('step', step('held'));
    const { code, stderr } = await run(['show', 'run_1', '--follow'], { env });
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: '⏸ The run waits for a person: `capstan holds hld_1`, then release or reject it\n',
    });
  });
});

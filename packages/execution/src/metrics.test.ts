import { expect, test } from 'vitest';
import { createWorkerMetrics } from './metrics.js';
import { Running } from './running.js';
import { newClaimed } from './testing/new-claimed.js';

test('the metrics of a worker show running and ended attempts by runner type', async () => {
  const running = new Map([['inv_1', new Running(newClaimed({ runner: 'api' }))]]);
  const { registry, ended } = createWorkerMetrics({ api: 16, db: 4 }, running);
  ended('api', 'timed_out', 0.2);
  const text = await registry.metrics();
  for (const line of [
    'capstan_attempts_total{runner="api",outcome="timed_out"} 1',
    'capstan_attempts_total{runner="db",outcome="ambiguous"} 0',
    'capstan_retries_total{runner="db"} 0',
    'capstan_attempt_seconds_bucket{le="0.25",runner="api"} 1',
    'capstan_running_attempts{runner="api"} 1',
    'capstan_running_attempts{runner="db"} 0',
    'capstan_worker_slots{runner="db"} 4',
  ])
    expect(text).toContain(line);
});

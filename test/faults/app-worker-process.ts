import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { serveTools, tool } from '@capstan/client';
import { z } from 'zod';

/** `node app-worker-process.js url key pool file`: serves `mark`, which may be repeated, and `once`, which may not. */
const [url = '', key = '', pool = '', file = ''] = process.argv.slice(2);

const marking = (id: string, idempotent: boolean) =>
  tool({
    id,
    description: 'Leaves a mark and takes its time',
    input: z.object({ ms: z.number() }),
    risk: 'LOW',
    side_effects: [],
    effects: { idempotent },
    run: async ({ ms }, { invocation_id, attempt, signal }) => {
      appendFileSync(file, `${invocation_id} ${attempt} ${process.pid}\n`);
      await delay(ms, undefined, { signal });
      return { attempt };
    },
  });

const worker = await serveTools({
  url,
  key,
  pool,
  tools: [marking('mark', true), marking('once', false)],
  concurrency: 10,
  drain_ms: 500,
  onError: (error) => console.error(error.message),
});
console.log(`serves ${pool} as ${worker.worker_id}`);
process.once('SIGTERM', () => void worker.stop().then(() => process.exit(0)));

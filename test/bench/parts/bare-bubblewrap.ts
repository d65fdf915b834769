import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { getEachMessage, sendMessage } from 'execa';
import type { Sample } from '../subject.js';
import { BareOrder } from './exec-workers.js';

// Own process: `true` in bubblewrap, a number of them at a time, and nothing around it.

const ARGUMENTS = [
  ...['--unshare-all', '--die-with-parent', '--new-session'],
  ...['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
  'true',
];

for await (const message of getEachMessage()) {
  await sendMessage(await carryOut(BareOrder.parse(message)));
}

async function carryOut({ in_flight, count }: BareOrder): Promise<Sample> {
  let left = count;
  const keepSpawning = async () => {
    while (left > 0) {
      left -= 1;
      await spawnOne();
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: in_flight }, keepSpawning));
  return { count, elapsed_ms: performance.now() - started };
}

async function spawnOne(): Promise<void> {
  const child = spawn('bwrap', ARGUMENTS, { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  child.stderr.resume();
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`bwrap ended with ${code}`);
}

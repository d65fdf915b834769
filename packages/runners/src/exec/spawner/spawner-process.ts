import type { Readable } from 'node:stream';
import type { Command, Order, Report } from './spawner-messages.js';
import { type Started, startProcess } from './start-process.js';

// Own process: see `create-spawner.ts`. It imports next to nothing, because to stay small is all it is for.

const running = new Map<number, Started>();
/** Chunks that the worker has not taken yet; a tool that writes faster waits. */
const MAX_WAITING = 16;

process.on('message', (command: Command) => {
  if ('run' in command) void run(command.id, command.run);
  else running.get(command.id)?.stop(command.stop);
});

// The worker is gone, however it went.
process.on('disconnect', () => {
  for (const started of running.values()) started.stop('kill');
  process.exit();
});

// A terminal or a service manager sends these to everybody; the worker says when it is time.
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

async function run(id: number, order: Order): Promise<void> {
  const started = startProcess(order);
  if (started instanceof Promise) {
    report({ id, ending: await started });
    return;
  }
  running.set(id, started);
  // Where a pid namespace and bubblewrap see to it, nobody has to know.
  if (order.level !== 'bubblewrap') report({ id, pid: started.pid });
  forward(id, 'stdout', started.stdout);
  forward(id, 'stderr', started.stderr);
  const ending = await started.ended;
  running.delete(id);
  report({ id, ending });
}

function forward(id: number, stream: 'stdout' | 'stderr', readable: Readable): void {
  let waiting = 0;
  readable.on('data', (chunk: Uint8Array) => {
    waiting += 1;
    if (waiting >= MAX_WAITING) readable.pause();
    report({ id, stream, chunk }, () => {
      waiting -= 1;
      if (waiting < MAX_WAITING / 2) readable.resume();
    });
  });
}

function report(report: Report, onSent: () => void = () => {}): void {
  // Without a worker there is nobody to tell; `disconnect` ends this process.
  process.send?.(report, undefined, undefined, onSent);
}

import { processesWith } from '@capstan/sandbox/testing';
import { describe, expect, test, vi } from 'vitest';
import { onEachLevel } from './testing/on-each-level.js';

/** A run that waits for a sleeping process takes at least this long. */
const SLEEP_MS = 60_000;
let marks = 0;
/** A time to sleep that no other process sleeps. */
const mark = () => {
  marks += 1;
  return `${SLEEP_MS / 1000}.${process.pid}${marks}`;
};
const gone = (...marked: string[]) =>
  vi.waitFor(async () => expect((await Promise.all(marked.map(processesWith))).flat()).toEqual([]), 30_000);

onEachLevel((exec) => {
  const { level, run, sh, node, leftovers } = exec;

  /** Runs `script`, and aborts once it has written as many lines as are expected. */
  const abortOnceReady = async (script: string, lines: number) => {
    const controller = new AbortController();
    let seen = '';
    let aborted = 0;
    await sh(script, {
      signal: controller.signal,
      log: (_, text) => {
        seen += text;
        if (seen.split('\n').length <= lines || controller.signal.aborted) return;
        aborted = performance.now();
        controller.abort();
      },
    });
    return { elapsed: performance.now() - aborted };
  };

  describe('an abort', () => {
    test('ends the command with its children', async () => {
      const [one, two] = [mark(), mark()];
      const { elapsed } = await abortOnceReady(
        `sleep ${one} & echo 1; (sleep ${two} & echo 2; wait) & echo 3; wait`,
        3,
      );
      await gone(one, two);
      expect(elapsed).toBeLessThan(SLEEP_MS);
    });

    test('lets the command exit cleanly', async () => {
      const said: string[] = [];
      const controller = new AbortController();
      await sh("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done", {
        signal: controller.signal,
        log: (stream, text) => {
          // On stderr a shell may tell of its child, before or after.
          if (stream === 'stdout') said.push(text);
          controller.abort();
        },
      });
      expect(said.join('')).toBe('ready\nbye\n');
    });

    test('kills a command that ignores SIGTERM half a second later', async () => {
      const one = mark();
      const { elapsed } = await abortOnceReady(`trap '' TERM; sleep ${one} & echo 1; while :; do wait; done`, 1);
      await gone(one);
      expect(elapsed).toBeGreaterThan(450);
      expect(elapsed).toBeLessThan(SLEEP_MS);
    });

    test('kills children that ignore SIGTERM even if the command itself exits', async () => {
      const one = mark();
      const script = `(trap '' TERM; echo ready; sleep ${one}; sleep ${one}) >&2 & trap 'exit 0' TERM; echo 1; wait`;
      await abortOnceReady(script, 2);
      await gone(one);
    });

    test('kills a stopped process', async () => {
      const one = mark();
      await abortOnceReady(`echo ${one}; kill -STOP $$`, 1);
      await gone(one);
    });

    test.skipIf(level === 'process')('reaches a child in a separate session', async () => {
      const one = mark();
      await abortOnceReady(`setsid sh -c 'echo 1; exec sleep ${one}' & wait`, 1);
      await gone(one);
    });

    // A process group cannot hold what leaves it; this is what a pid namespace is for.
    test.skipIf(level !== 'process')('is not delayed by a child in a separate session', async () => {
      const one = mark();
      const { elapsed } = await abortOnceReady(`setsid sh -c 'echo 1; exec sleep ${one}' & wait`, 1);
      expect(elapsed).toBeLessThan(SLEEP_MS);
      for (const pid of await processesWith(one)) process.kill(pid, 'SIGKILL');
    });

    test('before the start starts nothing', async () => {
      const outcome = await run(['touch', 'started'], { signal: AbortSignal.abort() });
      expect(outcome).toMatchObject({ success: false, kind: 'CANCELED' });
      expect(await leftovers()).toEqual([]);
    });
  });

  describe('the end of a command', () => {
    const timed = async (script: string) => {
      const started = performance.now();
      const outcome = await sh(script);
      return { outcome, elapsed: performance.now() - started };
    };

    test('is not delayed by a child that keeps the pipe open, which is killed', async () => {
      const one = mark();
      const { outcome, elapsed } = await timed(`sleep ${one} & echo on`);
      expect(outcome).toMatchObject({ success: true, payload: { stdout: 'on\n' } });
      expect(elapsed).toBeLessThan(SLEEP_MS);
      await gone(one);
    });

    test('is not delayed by a child in a separate session that keeps the pipe open', async () => {
      const one = mark();
      const { elapsed } = await timed(
        `setsid sh -c 'touch up; exec sleep ${one}' & until [ -e up ]; do sleep 0.01; done`,
      );
      expect(elapsed).toBeLessThan(SLEEP_MS);
      if (level === 'process') for (const pid of await processesWith(one)) process.kill(pid, 'SIGKILL');
      await gone(one);
    });

    test('ends quiet children too', async () => {
      const one = mark();
      await sh(`sleep ${one} >/dev/null 2>&1 </dev/null &`);
      await gone(one);
    });

    test('is awaited if the command closed its output earlier', async () => {
      expect(await sh('echo early; exec >&- 2>&-; sleep 0.3; exit 4')).toMatchObject({
        exit_code: 4,
        payload: { stdout: 'early\n' },
      });
    });

    test('loses none of the last output', async () => {
      const outcome = await node("process.stdout.write('x'.repeat(60000)); process.exit(0)");
      expect(outcome).toMatchObject({ payload: { stdout: 'x'.repeat(60_000) } });
    });
  });
});

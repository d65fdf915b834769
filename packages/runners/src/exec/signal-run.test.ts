import { describe, expect, test, vi } from 'vitest';
import { processesWith } from '../testing/processes-with.js';
import { onEachLevel } from './testing/on-each-level.js';

let marks = 0;
/** A time to sleep that no other process sleeps. */
const mark = () => {
  marks += 1;
  return `60.${process.pid}${marks}`;
};
const gone = (...marked: string[]) =>
  vi.waitFor(async () => expect((await Promise.all(marked.map(processesWith))).flat()).toEqual([]), 5000);

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
      expect(elapsed).toBeLessThan(5000);
    });

    test('lets it end in good order', async () => {
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

    test('kills what ignores SIGTERM half a second later', async () => {
      const one = mark();
      const { elapsed } = await abortOnceReady(`trap '' TERM; sleep ${one} & echo 1; while :; do wait; done`, 1);
      await gone(one);
      expect(elapsed).toBeGreaterThan(450);
      expect(elapsed).toBeLessThan(5000);
    });

    test('kills children that ignore SIGTERM although the command itself obeyed', async () => {
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

    test.skipIf(level === 'process')('reaches a child that made a session of its own', async () => {
      const one = mark();
      await abortOnceReady(`setsid sh -c 'echo 1; exec sleep ${one}' & wait`, 1);
      await gone(one);
    });

    // A process group cannot hold what leaves it; this is what a pid namespace is for.
    test.skipIf(level !== 'process')('is not delayed by a child that made a session of its own', async () => {
      const one = mark();
      const { elapsed } = await abortOnceReady(`setsid sh -c 'echo 1; exec sleep ${one}' & wait`, 1);
      expect(elapsed).toBeLessThan(5000);
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
      expect(elapsed).toBeLessThan(5000);
      await gone(one);
    });

    test('is not delayed by a child in a session of its own that keeps the pipe open', async () => {
      const one = mark();
      const { elapsed } = await timed(
        `setsid sh -c 'touch up; exec sleep ${one}' & until [ -e up ]; do sleep 0.01; done`,
      );
      expect(elapsed).toBeLessThan(5000);
      if (level === 'process') for (const pid of await processesWith(one)) process.kill(pid, 'SIGKILL');
      await gone(one);
    });

    test('takes quiet children with it', async () => {
      const one = mark();
      await sh(`sleep ${one} >/dev/null 2>&1 </dev/null &`);
      await gone(one);
    });

    test('is awaited when it closed its output before', async () => {
      expect(await sh('echo early; exec >&- 2>&-; sleep 0.3; exit 4')).toMatchObject({
        exit_code: 4,
        payload: { stdout: 'early\n' },
      });
    });

    test('loses nothing of what was written last', async () => {
      const outcome = await node("process.stdout.write('x'.repeat(60000)); process.exit(0)");
      expect(outcome).toMatchObject({ payload: { stdout: 'x'.repeat(60_000) } });
    });
  });
});

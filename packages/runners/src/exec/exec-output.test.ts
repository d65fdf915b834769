import { describe, expect, test } from 'vitest';
import { onEachLevel, SECRET } from './testing/on-each-level.js';

onEachLevel((exec) => {
  const { run, sh, node } = exec;

  describe('output', () => {
    test('a secret is redacted from the result, the log and the error', async () => {
      const logged: string[] = [];
      const outcome = await sh(`echo ${SECRET}; echo "no ${SECRET}" >&2; exit 1`, {
        log: (_, text) => logged.push(text),
      });
      expect(outcome).toMatchObject({
        error: 'sh exited with 1: no [REDACTED]',
        payload: { stdout: '[REDACTED]\n', stderr: 'no [REDACTED]\n' },
      });
      expect(logged.join('')).not.toContain('horse');
    });

    test('a secret written byte by byte is redacted', async () => {
      const script = `const { writeSync } = require('fs'); for (const c of 'a ${SECRET} b') writeSync(1, c);`;
      expect(await node(script)).toMatchObject({ payload: { stdout: 'a [REDACTED] b' } });
    });

    test('output is redacted before it is truncated, so that no half of a secret is left', async () => {
      for (const max_output_bytes of [5, 12, 20, 30]) {
        const outcome = await sh(`printf 'abc ${SECRET} def'`, { max_output_bytes });
        expect(outcome).toMatchObject({
          payload: { stdout: 'abc [REDACTED] def'.slice(0, max_output_bytes) },
          truncated: max_output_bytes < 18,
        });
      }
    });

    test('each stream is truncated at the limit, and the process runs to its end', async () => {
      const logged: string[] = [];
      const script = 'yes | head -c 300000; echo last words >&2; exit 7';
      const outcome = await sh(script, { max_output_bytes: 1000, log: (_, text) => logged.push(text) });
      expect(outcome).toMatchObject({
        success: false,
        truncated: true,
        exit_code: 7,
        payload: { stdout: 'y\n'.repeat(500), stderr: 'last words\n' },
      });
      expect(logged.join('')).toHaveLength(1000 + 'last words\n'.length);
    });

    test('output exactly as long as the limit is complete', async () => {
      expect(await run(['printf', '%s', 'abcd'], { max_output_bytes: 4 })).toMatchObject({
        truncated: false,
        payload: { stdout: 'abcd' },
      });
    });

    test('invalid UTF-8 becomes U+FFFD', async () => {
      expect(await run(['printf', '%b', 'a\\0377b\\0303'])).toMatchObject({ payload: { stdout: 'a\ufffdb\ufffd' } });
    });

    test('100 MB of output do not increase memory use', async () => {
      const before = process.memoryUsage().rss;
      let peak = before;
      const sampling = setInterval(() => {
        peak = Math.max(peak, process.memoryUsage().rss);
      }, 5);
      const outcome = await run(['head', '-c', '100000000', '/dev/zero'], { max_output_bytes: 10_000 });
      clearInterval(sampling);
      expect(outcome).toMatchObject({ success: true, truncated: true });
      expect((peak - before) / 1e6).toBeLessThan(60);
    });
  });
});

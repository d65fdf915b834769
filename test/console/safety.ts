import { expect, test } from 'vitest';
import { type ConsoleUnderTest, close, READ } from './console-under-test.js';

const HOSTILE =
  '<script>globalThis.hacked=1</script><img src=x onerror="globalThis.hacked=1">\u001b[31mred\u202ereversed';

export function testSafety(at: () => ConsoleUnderTest): void {
  test('tags, escape sequences and bidirectional characters in tool output are shown as harmless text', async () => {
    const { asker } = at();
    const session_id = 'hostile';
    await asker.client.sessions.files.write(session_id, 'note.txt', { content: HOSTILE });
    const { invocation_id } = await asker.client.submit(
      { tool_id: READ, inputs: { path: 'note.txt' }, session_id, labels: { [HOSTILE.slice(0, 8)]: HOSTILE.slice(86) } },
      { wait_s: 30 },
    );
    const page = await asker.open(`/invocations/${invocation_id}`);
    const output = page.getByRole('group', { name: 'Output' });
    await output.getByText('<script>globalThis.hacked=1</script>').waitFor();
    expect(await output.innerText()).toContain('\\x1b[31mred\\u202ereversed');
    expect(await page.locator('img[src="x"]').count()).toBe(0);
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
    const shown = await page.locator('body').innerText();
    expect(['\u001b', '\u202e'].filter((char) => shown.includes(char))).toEqual([]);
    await close(page);
  });

  test('the Content Security Policy blocks scripts that are not files of the console', async () => {
    const { ann } = at();
    const page = await ann.open('/approvals');
    const blocked = page.waitForEvent('console', {
      predicate: (message) => /Content Security Policy/.test(message.text()),
    });
    await page.evaluate(`{
      const script = document.createElement('script');
      script.textContent = 'globalThis.hacked = 1';
      document.body.append(script);
    }`);
    await blocked;
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
    const policy = (await page.request.get(page.url(), { headers: { accept: 'text/html' } })).headers()[
      'content-security-policy'
    ];
    expect(policy).toContain("default-src 'self'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    await close(page);
  });
}

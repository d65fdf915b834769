import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { ADD, type ConsoleUnderTest, close } from './console-under-test.js';

const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const LISTS = [
  '/approvals',
  '/overview',
  '/runs',
  '/invocations',
  '/queues',
  '/tools',
  '/policy',
  '/policy?view=versions',
  '/policy?view=grants',
  '/audit',
  '/schedules',
  '/webhooks',
  '/quotas',
  '/keys',
  '/secrets',
];

export function testEveryPage(at: () => ConsoleUnderTest): void {
  test('axe finds nothing on any page, in the light theme and in the dark', async () => {
    const { asker, admin, system } = at();
    const { hold_id } = await asker.client.submit({ tool_id: ADD, inputs: { a: 14, b: 1 } });
    const ended = await asker.client.submit(
      { tool_id: 'cap:test_math:divide', inputs: { a: 1, b: 0 } },
      { wait_s: 20 },
    );
    const { run_id } = await asker.client.runs.submit({
      plan: {
        name: 'two',
        steps: [
          { id: 'one', tool: 'cap:noop:noop' },
          { id: 'two', tool: 'cap:noop:noop' },
        ],
      },
    });
    await asker.client.runs.wait(run_id, { timeout_s: 20 });
    await system.admin.quotas.set('runner:exec', { max_concurrent: 5 });
    const page = await admin.open('/login', { colorScheme: 'light', reducedMotion: 'reduce' });
    await page.getByRole('heading', { level: 1 }).waitFor();
    // Not as a script of the page, which its policy would block.
    await page.evaluate(AXE);
    const paths = [
      ...LISTS,
      `/approvals/${hold_id}`,
      `/approvals/${hold_id}?edit=yes`,
      `/invocations/${ended.invocation_id}`,
      `/invocations/${ended.invocation_id}?view=decision`,
      `/runs/${run_id}?step=one`,
      `/runs/${run_id}?view=timeline`,
      `/runs/${run_id}?view=table`,
      `/compare?a=${run_id}&b=${run_id}`,
      `/tools/${encodeURIComponent(ADD)}`,
    ];
    const found: string[] = [];
    const turn = async (colorScheme: 'light' | 'dark') => {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.locator(`html[data-theme="${colorScheme}"]`).waitFor();
    };
    const check = async (place: string) => {
      await turn('light');
      found.push(...(await violations(page, ALL)).map((each) => `${place}: ${each}`));
      await turn('dark');
      found.push(...(await violations(page, ['color-contrast'])).map((each) => `${place}, dark: ${each}`));
    };
    await check('/login');
    for (const path of paths) {
      // As a link would: the page is not loaded anew, and axe stays.
      await page.evaluate(
        `history.pushState({}, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
      );
      await page.locator('.page').waitFor();
      await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
      await check(path);
    }
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').waitFor();
    await check('palette');
    expect(found).toEqual([]);
    await close(page);
  });
}

const ALL = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

async function violations(page: Page, runOnly: string[]): Promise<string[]> {
  const options = { runOnly, resultTypes: ['violations'] };
  const { violations: found } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  return found.map(({ id, nodes }) =>
    `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`.slice(0, 600),
  );
}

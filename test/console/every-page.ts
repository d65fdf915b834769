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
  '/tools?view=sources',
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
  test('axe finds no accessibility violation on any page, in the light and the dark theme', async () => {
    const { asker, admin, system } = at();
    const { hold_id } = await asker.client.submit({ tool_id: ADD, inputs: { a: 14, b: 1 } });
    const ended = await asker.client.submit(
      { tool_id: 'cap:test_math:divide', inputs: { a: 1, b: 0 } },
      { wait_s: 30 },
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
    await asker.client.runs.wait(run_id, { timeout_s: 60 });
    await system.admin.quotas.set('runner:exec', { max_concurrent: 5 });
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
    const THEMES = ['light', 'dark'] as const;
    /** Opens a page, and then each path in it. */
    const look = async (own: string[], dialogs: string[]): Promise<string[]> => {
      const page = await admin.open('/login', { reducedMotion: 'reduce' });
      await page.getByRole('heading', { level: 1 }).waitFor();
      // Evaluated, because the Content Security Policy would block it as a script of the page.
      await page.evaluate(AXE);
      const found: string[] = [];
      const check = async (place: string) => {
        await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
        for (const colorScheme of THEMES) {
          // Set directly: a page in the background does not hear that the system's theme has changed.
          await page.evaluate(`document.documentElement.dataset.theme = '${colorScheme}'`);
          found.push(...(await violations(page)).map((each) => `${place}, ${colorScheme}: ${each}`));
        }
      };
      // Navigates like a link: the page is not reloaded, so axe stays loaded.
      const go = async (path: string) => {
        await page.evaluate(
          `history.pushState({}, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
        );
        await page.locator('.page').last().waitFor();
      };
      await check('/login');
      for (const path of own) {
        await go(path);
        await check(path);
      }
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').waitFor();
      await check('palette');
      await page.keyboard.press('Escape');
      await go(`/approvals/${hold_id}`);
      for (const name of dialogs) {
        await page.getByRole('complementary').getByRole('button', { name, exact: true }).click();
        await page.getByRole('dialog').waitFor();
        await check(`dialog: ${name}`);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
      await close(page);
      return found;
    };
    // Two pages at a time, for two cores.
    const half = Math.ceil(paths.length / 2);
    const found = await Promise.all([
      look(paths.slice(0, half), ['Approve', 'Reject']),
      look(paths.slice(half), ['Approve the next calls too', 'Approve and propose a rule']),
    ]);
    expect(found.flat()).toEqual([]);
  });
}

const ALL = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

async function violations(page: Page): Promise<string[]> {
  const options = { runOnly: ALL, resultTypes: ['violations'] };
  const { violations: found } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  return found.map(({ id, nodes }) =>
    `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`.slice(0, 600),
  );
}

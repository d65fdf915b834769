import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { FIXTURE } from '../flow/mcp-policy.js';
import { ADD, type ConsoleUnderTest, close, rowOf } from './console-under-test.js';

const MANY = 100_000;
const STEPS = 1000;

export function testLists(at: () => ConsoleUnderTest): void {
  test('a list of 100,000 invocations can be scrolled and filtered', async () => {
    const { newPerson, system } = at();
    const crowd = await newPerson('crowd', ['submit', 'operate'], 'crowd');
    await system.admin.policies.put('crowd', { rules: [{ id: 'all', effect: 'allow', match: { tool: '*' } }] });
    const { invocation_id } = await crowd.client.submit({ tool_id: ADD, inputs: { a: 0, b: 1 }, delay_ms: 86_400_000 });
    await copyDeferred(system.store, invocation_id, MANY - 1);

    const page = await crowd.open('/invocations');
    const table = page.getByRole('table', { name: 'Invocations' });
    await table.waitFor();
    const rowcount = async () => Number(await table.getAttribute('aria-rowcount'));
    for (let turn = 0; turn < 5; turn += 1) {
      const before = await rowcount();
      await table.evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
      await eventually(async () => (await rowcount()) > before);
    }
    expect(await rowcount()).toBeGreaterThan(1000);
    // However long the list is, only the rows in view are in the DOM.
    expect(await page.locator('[data-row]').count()).toBeLessThan(100);

    await page.getByLabel('Label', { exact: true }).fill('shard:7');
    await page.keyboard.press('Enter');
    await page.getByText('End of the list.').waitFor();
    expect(await rowcount()).toBe(MANY / 1000 + 1);
    await rowOf(page, `inv_copy${String(99_007).padStart(17, '0')}`).waitFor();
    expect(new URL(page.url()).search).toContain('label=shard:7');
    await close(page);
  });

  test(`a run of ${STEPS} steps is drawn as a graph within a second, its steps can be opened, and its report fits a phone`, async () => {
    const { asker } = at();
    const width = 50;
    const steps = Array.from({ length: STEPS }, (_, place) => ({
      id: `s${place}`,
      tool: 'cap:noop:noop',
      needs: place < width ? [] : [`s${place - width}`, `s${place - width + ((place + 1) % width) - (place % width)}`],
    }));
    const { run_id } = await asker.client.runs.submit({ plan: { name: 'wide', steps } });
    const page = await asker.open(`/runs/${run_id}`);
    await page.locator(`.graph[data-nodes="${STEPS}"]`).waitFor();
    await page.locator('.react-flow__node').first().waitFor();
    await page.locator('.react-flow__edge').nth(STEPS).waitFor({ state: 'attached' });
    await page.locator('.react-flow__node').first().click();
    await page.getByRole('complementary', { name: /^Step s/ }).waitFor();
    await page.getByRole('button', { name: 'Timeline' }).click();
    await page.getByRole('region', { name: 'Timeline' }).waitFor();
    await page.getByRole('button', { name: 'Table' }).click();
    expect(await page.getByRole('table', { name: 'Steps' }).getAttribute('aria-rowcount')).toBe(String(STEPS + 1));
    await asker.client.runs.wait(run_id, { timeout_s: 60 });
    await page.locator('[data-status="completed"]').waitFor();
    // Measured once the run is over, so that only the drawing is timed.
    expect(await page.evaluate<number>(TIME_TO_DRAW)).toBeLessThan(1000);
    await close(page);

    const report = await asker.open(`/v1/runs/${run_id}/report?format=html`, { viewport: { width: 390, height: 844 } });
    await report.getByRole('img', { name: 'Timeline of the steps' }).waitFor();
    expect(await report.evaluate<number>('document.documentElement.scrollWidth')).toBe(390);
    expect(await report.evaluate<number>(RIGHTMOST_IN_TIMELINE)).toBeLessThanOrEqual(390);
    await close(report);
  });

  test('everything that matches a filter is run again with changed inputs, after a dialog that names the number', async () => {
    const { asker, ann } = at();
    const calls = [1, 2, 3].map((a) => ({
      tool_id: 'cap:test_math:divide',
      inputs: { a, b: 0 },
      session_id: 'thirds',
    }));
    const { run_id } = await asker.client.submitBulk(calls);
    await asker.client.runs.wait(run_id, { timeout_s: 60 });
    const page = await ann.open(`/invocations?run_id=${run_id}`);
    await page.getByRole('button', { name: 'All matches' }).click();
    await page.getByRole('menuitem', { name: 'Run with changed inputs' }).click();
    const dialog = page.getByRole('dialog', { name: 'Run 3 invocations with changed inputs' });
    await dialog.getByLabel('Changed members').fill('{"b": 2}');
    await dialog.getByRole('button', { name: 'Run 3' }).click();
    await page.waitForURL((url) => url.pathname.startsWith('/runs/'));
    const again = new URL(page.url()).pathname.slice('/runs/'.length);
    await asker.client.runs.wait(again, { timeout_s: 60 });
    const { items } = await asker.client.list({ run_id: again }).page();
    expect(items.map(({ result }) => result?.payload).toSorted()).toEqual([
      { result: 0.5 },
      { result: 1 },
      { result: 1.5 },
    ]);
    expect(items.map(({ session_id }) => session_id)).toEqual(['thirds', 'thirds', 'thirds']);
    await close(page);
  });

  test('the queues page shows where the queues are and how long the oldest call has waited, and a pause can be undone', async () => {
    const { asker, ann, system } = at();
    await system.admin.queues.pause('builtin');
    const { invocation_id } = await asker.client.submit({ tool_id: ADD, inputs: { a: 0, b: 1 } });
    const page = await ann.open('/queues');
    await page.getByRole('region', { name: 'Queues' }).getByText('in Postgres').waitFor();
    const builtin = page.locator('.queue-row', { hasText: 'builtin' });
    await builtin.getByText(/^\d+ s$/).waitFor();
    await builtin.getByText('0 of 8').waitFor();
    await builtin.getByRole('button', { name: 'Resume' }).click();
    await asker.client.wait(invocation_id, { timeout_s: 60 });
    await builtin.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await builtin.getByText('Paused', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).last().click();
    await builtin.getByText('Paused', { exact: true }).waitFor({ state: 'detached' });
    await close(page);
  });

  test('the focus returns to the button of a row when its dialog is closed', async () => {
    const { admin } = at();
    const page = await admin.open('/keys');
    const button = page.getByRole('button', { name: 'Delete the key of ann' });
    await button.click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await button.evaluate((element) => element.matches(':focus'))).toBe(true);
    await close(page);
  });

  test('a disabled MCP server stays among the sources, where it is enabled again', async () => {
    const { admin, system } = at();
    await system.admin.mcpServers.add({ name: 'switched', command: 'node', args: [FIXTURE] });
    const page = await admin.open('/tools/mcp:switched:plain');
    const confirm = async (action: string) => {
      await page.getByRole('dialog').getByRole('button', { name: action }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    await page.getByRole('button', { name: 'Disable' }).click();
    await confirm('Disable');
    const row = page.locator('.mini-row', { hasText: 'switched' });
    await row.getByText('Disabled', { exact: true }).waitFor();
    expect((await system.admin.mcpServers.get('switched')).status).toBe('disabled');
    await row.getByRole('button', { name: 'Enable switched' }).click();
    await confirm('Enable');
    await row.getByText('Disabled', { exact: true }).waitFor({ state: 'detached' });
    expect((await system.admin.mcpServers.get('switched')).enabled).toBe(true);
    await row.getByRole('button', { name: 'Remove switched' }).click();
    await confirm('Remove');
    await row.waitFor({ state: 'detached' });
    await close(page);
  });
}

const RIGHTMOST_IN_TIMELINE = `Math.max(...[...document.querySelectorAll('svg *')].map((each) => each.getBoundingClientRect().right))`;

/** Milliseconds from the click to the frame that contains the nodes. */
const TIME_TO_DRAW = `new Promise((resolve) => {
  const started = performance.now();
  const look = () => document.querySelector('.react-flow__node') ? resolve(performance.now() - started) : requestAnimationFrame(look);
  [...document.querySelectorAll('button')].find(({ textContent }) => textContent.trim() === 'Graph').click();
  requestAnimationFrame(look);
})`;

type Store = ConsoleUnderTest['system']['store'];

/** Copies a deferred call in the database. Submitting so many would take longer than all the other tests. */
async function copyDeferred({ db }: Store, invocation_id: string, count: number): Promise<void> {
  const columns = async (table: string) => {
    const { rows } = await sql<{ column_name: string }>`
      SELECT column_name FROM information_schema.columns
      WHERE table_schema = 'public' AND table_name = ${table} AND is_identity = 'NO' AND is_generated = 'NEVER'
        AND column_name NOT IN ('invocation_id', 'labels', 'seq')`.execute(db);
    return sql.join(rows.map(({ column_name }) => sql.ref(column_name)));
  };
  const id = sql`'inv_copy' || lpad(n::text, 17, '0')`;
  const [invocations, work] = await Promise.all([columns('invocations'), columns('work')]);
  await sql`
    WITH copied AS (
      INSERT INTO invocations (invocation_id, labels, ${invocations})
      SELECT ${id}, jsonb_build_object('shard', (n % 1000)::text), ${invocations}
      FROM invocations, generate_series(1, ${count}::int) AS n WHERE invocation_id = ${invocation_id}
      RETURNING invocation_id, seq
    )
    INSERT INTO work (invocation_id, seq, ${work})
    SELECT copied.invocation_id, copied.seq, ${work}
    FROM copied CROSS JOIN (SELECT ${work} FROM work WHERE invocation_id = ${invocation_id}) AS one`.execute(db);
  await sql`ANALYZE invocations, work`.execute(db);
}

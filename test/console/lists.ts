import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { ADD, type ConsoleUnderTest, close, rowOf } from './console-under-test.js';

const MANY = 100_000;
const STEPS = 1000;

export function testLists(at: () => ConsoleUnderTest): void {
  test('100,000 invocations scroll and filter', async () => {
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
    // However long the list is, only what is in view is in the page.
    expect(await page.locator('[data-row]').count()).toBeLessThan(100);

    await page.getByLabel('Label', { exact: true }).fill('shard:7');
    await page.keyboard.press('Enter');
    await page.getByText('These are all.').waitFor();
    expect(await rowcount()).toBe(MANY / 1000 + 1);
    await rowOf(page, `inv_copy${String(99_007).padStart(17, '0')}`).waitFor();
    expect(new URL(page.url()).search).toContain('label=shard:7');
    await close(page);
  });

  test(`a run of ${STEPS} steps is drawn as a graph, and its steps can be opened`, async () => {
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
    await page.locator('.react-flow__node').first().click();
    await page.getByRole('complementary', { name: /^Step s/ }).waitFor();
    await page.getByRole('button', { name: 'Timeline' }).click();
    await page.getByRole('region', { name: 'Timeline' }).waitFor();
    await page.getByRole('button', { name: 'Table' }).click();
    expect(await page.getByRole('table', { name: 'Steps' }).getAttribute('aria-rowcount')).toBe(String(STEPS + 1));
    await asker.client.runs.wait(run_id, { timeout_s: 20 });
    await page.locator('[data-status="completed"]').waitFor();
    await close(page);
  });
}

type Store = ConsoleUnderTest['system']['store'];

/** Copies of a call that is due tomorrow: submitting so many would take longer than all the other tests. */
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

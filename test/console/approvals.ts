import { expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { startCuttableProxy } from '../fixtures/start-cuttable-proxy.js';
import { RESPONSES } from '../flow/provider-messages.js';
import { ADD, type ConsoleUnderTest, close, rowOf } from './console-under-test.js';

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

export function testApprovals(at: () => ConsoleUnderTest): void {
  const hold = async (inputs = { a: 7, b: 1 }) => {
    const { hold_id, invocation_id } = await at().asker.client.submit({ tool_id: ADD, inputs });
    return { hold_id: hold_id ?? '', invocation_id };
  };

  test('a held step of a plan is edited by one person, approved by another, and the page follows it', async () => {
    const { asker, ann, bob } = at();
    const { run_id } = await asker.client.runs.submit({
      plan: { name: 'refunds', steps: [{ id: 'refund', tool: ADD, args: { a: 250, b: 1 } }] },
    });
    const first = await ann.open('/approvals');
    const run = await bob.open(`/runs/${run_id}?step=refund`);
    await run.getByRole('complementary', { name: 'Step refund' }).getByText('Held').waitFor();
    await first.getByText('a=250').click();
    await first.getByRole('heading', { name: ADD }).waitFor();
    await first.getByRole('complementary').getByText('0 of 2').waitFor();
    await first.getByText('large sums need two people').first().waitFor();
    await first.getByRole('button', { name: 'Edit and approve' }).click();
    await first.getByLabel('a', { exact: true }).fill('300');
    await first.getByRole('tab', { name: 'Changes (1)' }).click();
    await first.getByRole('deletion').getByText('250').waitFor();
    await first.getByRole('button', { name: 'Approve with changes' }).click();
    await first.getByRole('dialog').getByRole('insertion').getByText('300').waitFor();
    await first.getByRole('dialog').getByLabel('Comment (optional)').fill('it was 300');
    await first.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await first.getByRole('complementary').getByText('1 of 2').waitFor();

    const second = await bob.open('/approvals');
    await second.getByText('a=300').click();
    await second.getByText('it was 300').first().waitFor();
    await second.getByRole('tab', { name: 'Edits (1)' }).click();
    await second.getByRole('insertion').getByText('300').waitFor();
    await second.getByRole('complementary').getByRole('button', { name: 'Approve', exact: true }).click();
    await second.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await second.getByRole('complementary').getByText('Released').waitFor();

    // Neither the other's page nor that of the run is loaded again.
    await first.getByRole('complementary').getByText('Released').waitFor();
    await run.getByRole('complementary', { name: 'Step refund' }).getByText('301').waitFor();
    await run.getByText('Completed', { exact: true }).waitFor();
    await Promise.all([first, second, run].map(close));
  });

  test('the reason of a rejection reaches the model', async () => {
    const { asker, ann } = at();
    const call = { id: 'call_1', name: 'cap_test_math_add', args: { a: 8, b: 1 } };
    const response = RESPONSES.openai([call]);
    const ask = (wait_s: number) =>
      asker.client.toolCalls.submit({ provider: 'openai', response, idempotency_key: 'turn-1' }, { wait_s });
    await ask(0);
    const page = await ann.open('/approvals');
    await page.getByText('a=8').click();
    await page.getByRole('complementary').getByRole('button', { name: 'Reject' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Reject' }).getAttribute('aria-disabled')).toBe('true');
    await dialog.getByLabel('Reason').fill('Add up by hand, please.');
    await dialog.getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('complementary').getByText('Rejected').waitFor();
    expect(JSON.stringify((await ask(10)).messages)).toContain('Add up by hand, please.');
    await close(page);
  });

  test('fifty are decided at once, after the count was named', async () => {
    const { asker, ann } = at();
    const calls = Array.from({ length: 50 }, (_, place) => ({ tool_id: ADD, inputs: { a: 9, b: place } }));
    const { run_id, held } = await asker.client.submitBulk(calls);
    expect(held).toBe(50);
    const page = await ann.open(`/approvals?run_id=${run_id}`);
    await page.getByRole('button', { name: 'Select all 50' }).click();
    await page.getByRole('toolbar').getByRole('button', { name: 'Approve' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: 'Approve 50 calls' }).waitFor();
    await dialog.getByRole('button', { name: 'Approve 50' }).click();
    await page.getByText('Approved 50 of 50').first().waitFor();
    await page.getByText('Nothing that matches waits').waitFor();
    const done = await asker.client.runs.wait(run_id, { timeout_s: 20 });
    expect(done).toMatchObject({ status: 'completed', completed_steps: 50 });
    await close(page);
  });

  test('a phone decides with a finger', async () => {
    const { asker, ann } = at();
    const { hold_id, invocation_id } = await hold({ a: 10, b: 1 });
    const page = await ann.open('/approvals', PHONE);
    const row = rowOf(page, hold_id);
    await row.getByRole('button', { name: 'Approve' }).tap();
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).tap();
    await row.waitFor({ state: 'detached' });
    expect(await asker.client.wait(invocation_id, { timeout_s: 20 })).toMatchObject({ status: 'succeeded' });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await close(page);
  });

  test('the keyboard alone is enough', async () => {
    const { ann, asker } = at();
    const { hold_id, invocation_id } = await hold({ a: 11, b: 1 });
    const other = await hold({ a: 12, b: 1 });
    const page = await ann.open('/overview');
    const press = (...keys: string[]) =>
      keys.reduce((done, key) => done.then(() => page.keyboard.press(key)), Promise.resolve());
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await press('g', 'a');
    await rowOf(page, hold_id).waitFor();
    const rows = page.locator('[data-row]');
    const place = await rows.evaluateAll(
      (all, id) => all.findIndex((row) => row.getAttribute('data-row') === id),
      hold_id,
    );
    await press(...Array.from({ length: place }, () => 'j'));
    await rowOf(page, hold_id).and(page.locator('[data-active]')).waitFor();
    await press('a');
    await page.getByRole('dialog').getByText('a=11').waitFor();
    await press('Enter');
    await rowOf(page, hold_id).waitFor({ state: 'detached' });
    expect(await asker.client.wait(invocation_id, { timeout_s: 20 })).toMatchObject({ status: 'succeeded' });

    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(other.hold_id);
    await press('Enter');
    await page.getByRole('heading', { name: ADD }).waitFor();
    await press('r');
    await page.getByRole('dialog').getByLabel('Reason').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('not today');
    const reject = page.getByRole('dialog').getByRole('button', { name: 'Reject' });
    await eventually(async () => {
      await press('Tab');
      return (await reject.and(page.locator(':focus')).count()) === 1;
    });
    await press('Enter');
    await page.getByRole('complementary').getByText('Rejected').waitFor();
    await close(page);
  });

  test('the title counts what waits, and a list behind a dropped connection catches up', async () => {
    const { ann, system } = at();
    const proxy = await startCuttableProxy(system.url);
    const page = await ann.open('/approvals', {}, proxy.url);
    await page.locator('[data-live="live"]').first().waitFor({ state: 'attached' });
    const before = await page.locator('[data-row]').count();
    proxy.cut();
    await page.getByText('The connection is lost').waitFor();
    const { hold_id } = await hold({ a: 13, b: 1 });
    proxy.mend();
    await rowOf(page, hold_id).waitFor();
    await page.getByText('The connection is lost').waitFor({ state: 'detached' });
    await eventually(async () => (await page.title()).startsWith(`(${before + 1})`));
    await close(page);
  });
}

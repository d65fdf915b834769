import { expect, test } from 'vitest';
import { type ConsoleUnderTest, close } from './console-under-test.js';

const MAX_FIRST_LOAD_BYTES = 350 * 1024;

export function testAccess(at: () => ConsoleUnderTest): void {
  test('takes a key at the door, says what is wrong with another, and goes where the link pointed', async () => {
    const { browser, system, ann } = at();
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${system.url}/runs`);
    await page.getByLabel('API key').fill('cap_nobody');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('The key is not known').waitFor();
    await page.getByLabel('API key').fill(ann.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/runs');
    await page.getByRole('button', { name: 'ann default' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    await page.goto(`${system.url}/runs`);
    await page.getByLabel('API key').waitFor();
    await close(page);
  });

  test('loads at most 350 kB for the first page', async () => {
    const { ann } = at();
    // Not a page of the console: nothing is cached yet.
    const page = await ann.open('/v1/whoami');
    const sizes: Promise<number>[] = [];
    page.on('requestfinished', (request) => {
      if (!request.url().includes('/v1/')) sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    });
    await page.goto(new URL('/approvals', page.url()).href);
    await page.getByRole('table', { name: 'Waiting for a decision' }).waitFor();
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(MAX_FIRST_LOAD_BYTES);
    await close(page);
  });

  test('says why not to a key without the role', async () => {
    const { newPerson, asker } = at();
    const eve = await newPerson('eve', ['submit']);
    const { hold_id } = await asker.client.submit({ tool_id: 'cap:test_math:add', inputs: { a: 1, b: 1 } });
    const page = await eve.open(`/approvals/${hold_id}`);
    await page.getByText('You cannot decide').waitFor();
    const approve = page
      .getByRole('complementary', { name: 'Decision' })
      .getByRole('button', { name: 'Approve', exact: true });
    expect(await approve.getAttribute('aria-disabled')).toBe('true');
    await approve.focus();
    await page.getByRole('tooltip').getByText('operate').waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('a');
    expect(await page.locator('dialog[open]').count()).toBe(0);
    await page.goto(new URL('/keys', page.url()).href);
    await page.getByText('You may not see this').waitFor();
    await close(page);
    await asker.client.holds.withdraw(hold_id ?? '');
  });
}

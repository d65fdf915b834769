import { expect, test } from 'vitest';
import { ADD, type ConsoleUnderTest, close } from './console-under-test.js';

const MAX_FIRST_LOAD_BYTES = 350 * 1024;

export function testAccess(at: () => ConsoleUnderTest): void {
  test('logs in with a key, explains why a wrong key is refused, and returns to the linked page', async () => {
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

  test('logs in through the identity provider with the role of the group, and returns to the linked page', async () => {
    const { browser, system, asker } = at();
    const { hold_id } = await asker.client.submit({ tool_id: ADD, inputs: { a: 2, b: 1 } });
    const page = await (await browser.newContext()).newPage();
    // The provider's form would load a font from the internet.
    await page.route('https://**', (request) => request.abort());
    await page.goto(`${system.url}/approvals/${hold_id}`);
    await page.getByRole('link', { name: /^Continue with/ }).click();
    await page.locator('input[name="login"]').fill('ann');
    await page.locator('input[name="password"]').fill('any will do');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: ADD }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/approvals/${hold_id}`);
    await page.getByRole('button', { name: 'ann@example.com default' }).waitFor();
    await page.getByRole('complementary').getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('complementary').getByText('Released').waitFor();
    const { votes } = await asker.client.holds.get(hold_id ?? '');
    expect(votes).toMatchObject([{ actor: 'ann@example.com', identity: { sub: 'ann' } }]);
    await close(page);
  });

  test('loads at most 350 kB for the first page', async () => {
    const { ann } = at();
    // Not a page of the console, so that nothing is cached yet.
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

  test('disables decisions for a key without the role, and says why', async () => {
    const { newPerson, asker } = at();
    const eve = await newPerson('eve', ['submit']);
    const { hold_id } = await asker.client.submit({ tool_id: ADD, inputs: { a: 1, b: 1 } });
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
    await page.getByText('You have no access to this').waitFor();
    await close(page);
    await asker.client.holds.withdraw(hold_id ?? '');
  });
}

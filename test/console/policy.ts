import { expect, test } from 'vitest';
import { eventually } from '../fixtures/eventually.js';
import { type ConsoleUnderTest, close } from './console-under-test.js';

export function testPolicy(at: () => ConsoleUnderTest): void {
  test('an admin edits the policy with checks while typing, and cannot overwrite a version that another has put in force', async () => {
    const { admin, system } = at();
    const text = 'version: "1.0"\nrules: []\n';
    await system.admin.policies.put('edited', text);
    const page = await admin.open('/policy?name=edited');
    const editor = page.getByRole('textbox', { name: 'Policy edited' });
    const save = page.getByRole('button', { name: 'Save' });
    const dialog = page.getByRole('dialog');
    const inForce = () => system.admin.policies.yaml('edited');
    await editor.click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('# mine\nrulez: 1');
    await page.getByRole('alert').getByText('rulez: is not a known field').waitFor();
    expect(await save.getAttribute('aria-disabled')).toBe('true');
    for (const _ of 'rulez: 1') await page.keyboard.press('Backspace');

    await system.admin.policies.put('edited', `${text}# theirs\n`);
    await page.getByText('put version 2 in force while you were editing').waitFor();
    await eventually(async () => (await page.getByRole('alert').count()) === 0);
    expect(await save.getAttribute('aria-disabled')).toBe('true');
    await page.getByRole('button', { name: 'Review' }).click();
    await dialog.getByText('# theirs').waitFor();
    await dialog.getByRole('button', { name: 'Continue with my draft' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await inForce()).toBe(`${text}# theirs\n`);

    await save.click();
    await dialog.getByText('# mine').waitFor();
    await dialog.getByText('# theirs').waitFor();
    // Another version appears while the dialog is open.
    await system.admin.policies.put('edited', `${text}# theirs, again\n`);
    await dialog.getByRole('button', { name: 'Put in force' }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await inForce()).toBe(`${text}# theirs, again\n`);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Review' }).click();
    await dialog.getByRole('button', { name: 'Continue with my draft' }).click();
    await dialog.waitFor({ state: 'detached' });
    await save.click();
    await dialog.getByRole('button', { name: 'Put in force' }).click();
    await page.getByText('Version 4 is in force', { exact: true }).waitFor();
    expect(await inForce()).toBe(`${text}# mine\n`);

    await page.getByRole('button', { name: 'Versions' }).click();
    await page.getByRole('button', { name: /^Version 3/ }).click();
    await page.getByRole('button', { name: 'Roll back to this' }).click();
    await dialog.getByRole('button', { name: 'Roll back' }).click();
    await page.getByText('Version 3 is in force again', { exact: true }).waitFor();
    expect(await inForce()).toBe(`${text}# theirs, again\n`);
    await close(page);
  });
}

import { fileURLToPath } from 'node:url';
import type { Client } from '@capstan/client';
import type { JsonObject, Role } from '@capstan/contracts';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { findRepository } from '../fixtures/find-repository.js';
import { startBrowser } from '../fixtures/start-browser.js';
import { startIdentityProvider } from '../flow/start-identity-provider.js';
import { type System, startSystem } from '../flow/start-system.js';

export const ADD = 'cap:test_math:add';
export const READ = 'cap:session_file_system:read_file';
export const WRITE = 'cap:session_file_system:write_file';

/** Makes the policy longer than its editor is high. */
const APPROVED_SPECS = Array.from({ length: 40 }, (_, place) => `sha256:${String(place).padStart(64, '0')}`);

/** Sums from 100 on need two people, smaller ones need one. Files need one as well. Everything else runs. */
const POLICY = {
  version: '1.0',
  boundary: 'deny_by_default',
  approved_specs: APPROVED_SPECS,
  rules: [
    { id: 'all', effect: 'allow', match: { tool: '*' } },
    {
      id: 'small-sums',
      effect: 'hold',
      match: { tool: ADD },
      if: 'inputs.a > 0 && inputs.a < 100',
      reason: 'sums need a person',
    },
    {
      id: 'large-sums',
      effect: 'hold',
      match: { tool: ADD },
      if: 'inputs.a >= 100',
      approvals: { required: 2 },
      reason: 'large sums need two people',
    },
    { id: 'files', effect: 'hold', match: { tool: WRITE }, reason: 'files need a person' },
  ],
} satisfies JsonObject;

export interface Person {
  readonly actor: string;
  readonly key: string;
  readonly client: Client;
  /** Opens a page in a separate browser context, signed in. */
  open(path: string, options?: BrowserContextOptions, url?: string): Promise<Page>;
}

export interface ConsoleUnderTest {
  readonly system: System;
  readonly browser: Browser;
  /** May submit. */
  readonly asker: Person;
  /** May decide. */
  readonly ann: Person;
  readonly bob: Person;
  readonly admin: Person;
  newPerson(actor: string, roles: Role[], tenant?: string): Promise<Person>;
  /** Uncaught errors of the pages. */
  readonly errors: string[];
}

/** One system and one browser for all tests of the console. */
export async function startConsole(): Promise<ConsoleUnderTest> {
  const console_dir = fileURLToPath(new URL('packages/console/dist', findRepository()));
  const provider = await startIdentityProvider();
  const oidc = {
    ...provider.capstan,
    scopes: 'openid email groups',
    roles: [{ group: 'ops', role: 'operate' as const }],
    actor_claim: 'email',
  };
  const [system, browser] = await Promise.all([
    startSystem({ name: 'postgres' }, { gateway: { console_dir, oidc } }),
    startBrowser(),
  ]);
  provider.serve(`${system.url}/v1/login/oidc/callback`);
  await system.admin.policies.put('default', POLICY);
  const errors: string[] = [];
  const newPerson = async (actor: string, roles: Role[], tenant = 'default'): Promise<Person> => {
    const { key } = await system.admin.keys.create({ tenant, actor, roles });
    return {
      actor,
      key,
      client: system.clientFor(key),
      open: async (path, options = {}, url = system.url) => {
        const context = await browser.newContext({ viewport: { width: 1280, height: 820 }, ...options });
        await logIn(context, url, key);
        const page = await context.newPage();
        page.setDefaultTimeout(30_000);
        page.on('pageerror', (error) => errors.push(String(error)));
        await page.goto(url + path);
        return page;
      },
    };
  };
  const [asker, ann, bob, admin] = await Promise.all([
    newPerson('asker', ['submit']),
    newPerson('ann', ['submit', 'operate']),
    newPerson('bob', ['operate']),
    newPerson('ada', ['admin']),
  ]);
  return { system, browser, asker, ann, bob, admin, newPerson, errors };
}

async function logIn(context: BrowserContext, url: string, key: string): Promise<void> {
  const answer = await context.request.post(`${url}/v1/login`, { data: { key }, headers: { origin: url } });
  expect(answer.status()).toBe(204);
}

export const close = (page: Page): Promise<void> => page.context().close();

/** The row of a list that shows this id. */
export const rowOf = (page: Page, id: string) => page.locator(`[data-row="${id}"]`);

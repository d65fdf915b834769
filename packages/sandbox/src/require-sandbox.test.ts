import { RunFacts } from '@capstan/contracts';
import { expect, test } from 'vitest';
import { createBareProcess } from './bare-process.js';
import { requireSandbox, sandboxNeeds } from './require-sandbox.js';
import { factOf, type Sandbox } from './sandbox.js';

const bare = createBareProcess({ prlimit: null, inits: null, identity: null });
const walled: Sandbox = { ...bare, level: 'bubblewrap' };
const filtered: Sandbox = { ...walled, features: ['seccomp', 'uid'] };

test('facts.sandbox names the level and its features, and the values in old results stay valid', () => {
  expect(factOf(filtered)).toBe('bubblewrap+seccomp+uid');
  for (const sandbox of [factOf(filtered), factOf(bare), 'namespaces', 'process+seccomp+landlock+uid'])
    expect(RunFacts.parse({ sandbox })).toEqual({ sandbox });
  for (const sandbox of ['', 'seccomp', 'bubblewrap+', 'bubblewrap+more'])
    expect(RunFacts.safeParse({ sandbox }).success).toBe(false);
});

test('a policy that requires seccomp refuses a sandbox without it, and says what it needs', () => {
  const needs = sandboxNeeds({ seccomp: 'required' }, 'MED');
  expect(requireSandbox(filtered, needs)).toBe(filtered);
  expect(() => requireSandbox(walled, needs)).toThrow(/seccomp.*bubblewrap.*noexec/);
  expect(requireSandbox(walled, sandboxNeeds({}, 'MED'))).toBe(walled);
});

test('from MED risk up the level process is refused', () => {
  expect(() => requireSandbox(bare, sandboxNeeds({}, 'MED'))).toThrow(/install bubblewrap/);
  expect(requireSandbox(bare, sandboxNeeds({}, 'LOW'))).toBe(bare);
});

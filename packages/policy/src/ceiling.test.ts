import type { Descriptor, EffectivePolicy, JsonObject } from '@capstan/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkInstallation } from './check-installation.js';
import { compilePolicy } from './compile-policy.js';
import { parsePolicy } from './parse-policy.js';
import { suggestFor } from './suggest/suggest-for.js';
import { OPEN } from './testing/compile-open.js';
import { newRequest, newTool } from './testing/new-request.js';

const ALL = { rules: [{ id: 'all', effect: 'allow' }] };
const TENANT_OPEN = { ...ALL, ...OPEN, risk: { HIGH: { effect: 'allow' } } };
const decide = (
  tenant: object,
  installation: object | undefined,
  tool: Partial<Descriptor> = {},
  inputs: JsonObject = {},
) =>
  compilePolicy({
    ...parsePolicy(tenant),
    ...(installation ? { installation: checkInstallation(parsePolicy(installation)) } : {}),
  }).decide(newRequest({ descriptor: newTool(tool), inputs }));
const exec: Partial<Descriptor> = { tool_id: 'shell.run', runner: 'exec', risk: 'HIGH' };

describe('a permission that only the installation can open', () => {
  test('is denied while the installation does not open it, even if the tenant allows it', () => {
    for (const installation of [undefined, { version: '1.0' }, { limits: [{ timeout_ms: 60_000 }] }])
      expect(decide(TENANT_OPEN, installation, exec)).toMatchObject({
        effect: 'allow',
        decided_by: 'tenant',
        limits: { deny_private_ips: true, env: [], shell: false, sandbox: 'required' },
        lowered: ['deny_private_ips', 'env', 'sandbox', 'shell'],
      });
  });

  test('is up to the tenant once it is open', () => {
    const decision = decide(TENANT_OPEN, { limits: OPEN.limits }, exec);
    expect(decision.limits).toMatchObject({ deny_private_ips: false, env: ['*'], shell: true, sandbox: 'preferred' });
    expect(decision.lowered).toBeUndefined();
  });

  test('is not granted to tenants that did not request it', () => {
    const { limits } = decide({ ...ALL, risk: { HIGH: { effect: 'allow' } } }, { limits: OPEN.limits }, exec);
    expect(limits).toEqual({ timeout_ms: 30_000, max_output_bytes: 1_048_576, sandbox: 'required' });
    const named = decide(ALL, { limits: [{ network: ['example.com'], write: true }] }, { ...exec, risk: 'LOW' });
    expect(named.limits).toEqual({ timeout_ms: 30_000, max_output_bytes: 1_048_576, sandbox: 'required' });
  });

  test('can be open for some tenants and tools only', () => {
    const limits = [{ match: { tenant: 'acme', tool: 'shell_run' }, env: ['LC_*'], shell: true }];
    const tenant = { ...TENANT_OPEN, limits: [{ env: ['LC_TIME', 'HOME'], shell: true }] };
    expect(decide(tenant, { limits }, exec).limits).toMatchObject({ env: ['LC_TIME'], shell: true });
    expect(decide(tenant, { limits }, { ...exec, tool_id: 'ext:a:b' }).limits).toMatchObject({ env: [], shell: false });
  });

  test('a private address in the inputs is denied by the installation, with the YAML that it would need', () => {
    const tool: Partial<Descriptor> = { tool_id: 'http.get', runner: 'api' };
    const tenant = { tools: { 'http.get': { allow_domains: ['*'], deny_private_ips: false } } };
    const inputs = { url: 'http://127.0.0.1:6379/' };
    const decision = decide(tenant, undefined, tool, inputs);
    expect(decision).toMatchObject({
      effect: 'deny',
      rule_matched: 'deny_private_ips=true',
      decided_by: 'installation',
    });
    const suggestion = suggestFor({ descriptor: newTool(tool), inputs, decision }) ?? '';
    expect(suggestion).toContain('only an admin of the tenant default');
    expect(suggestion).toContain('capstan policy put policy.yaml --name _installation');
    const yaml = suggestion.split('\n').slice(1, -1).join('\n');
    expect(decide(tenant, parsePolicy(yaml), tool, inputs).effect).toBe('allow');
  });

  test('a variable that a tool fills from a secret is not a variable of the worker', () => {
    const binding = (env: string[]): Descriptor['binding'] => ({
      ...{
        kind: 'command',
        extension_id: 'x',
        tools_hash: null,
        executable: 'x',
        action: 'x',
        argv: null,
        output: 'text',
      },
      env,
      permissions: [],
    });
    const tenant = { ...ALL, limits: [{ env: ['TOKEN', 'HOME'] }] };
    const envOf = (env: string[]) => decide(tenant, undefined, { runner: 'exec', binding: binding(env) }).limits.env;
    expect(envOf(['TOKEN=secret://token', 'HOME'])).toEqual(['TOKEN']);
    expect(envOf(['TOKEN=secret://token', 'TOKEN'])).toEqual([]);
  });
});

describe('the stricter of both policies applies', () => {
  test('to limits, field by field', () => {
    const own = {
      timeout_ms: 9000,
      max_output_bytes: 10,
      network: ['*.example.com'],
      max_response_bytes: 5,
      write: true,
    };
    const top = {
      timeout_ms: 5000,
      max_output_bytes: 20,
      network: ['a.example.com'],
      deny_domains: ['b'],
      write: false,
    };
    expect(decide({ ...ALL, limits: [own] }, { limits: [top] })).toMatchObject({
      limits: {
        ...{ timeout_ms: 5000, max_output_bytes: 10, network: ['a.example.com'], max_response_bytes: 5 },
        ...{ deny_domains: ['b'], write: false },
      },
      lowered: ['timeout_ms', 'network', 'deny_domains', 'write'],
    });
  });

  test('to paths: every list has to allow the file that is opened', () => {
    const tool: Partial<Descriptor> = { tool_id: 'fs.read', runner: 'file' };
    const globs = (...allow_paths: string[]) => ({ tools: { 'fs.read': { allow_paths } } });
    const both = (tenant: string, installation: string) =>
      decide({ ...ALL, ...globs(tenant) }, globs(installation), tool, { path: 'docs/a.md' });
    expect(both('**', 'docs/**')).toMatchObject({
      limits: { allow_paths: ['**'], also_allow_paths: [['docs/**']] },
      lowered: ['allow_paths'],
    });
    expect(both('docs/**', 'docs/**').limits).not.toHaveProperty('also_allow_paths');
    expect(both('**', 'src/**').allowed).toBe(false);
  });

  test.each<[string, object, string | null]>([
    ['a rule that forbids', { rules: [{ id: 'no', effect: 'forbid', match: { tool: 'cap:*' } }] }, 'no'],
    ['a gate of risk', { risk: { LOW: { effect: 'forbid' } } }, 'risk.LOW'],
    ['a constraint', { tools: { 'cap:*': { deny_paths: ['**/x'] } } }, 'deny_paths[**/x]'],
    ['a constraint of the tool by its name', { tools: { 'cap:test_math:add': { allow_paths: ['y'] } } }, 'allow_paths'],
    ['a count of calls', { max_calls_per_tool: 0 }, 'max_calls_per_tool'],
    ['a condition that fails', { rules: [{ id: 'bad', effect: 'hold', if: 'labels.x == "y"' }] }, 'bad'],
  ])('%s of the installation denies what the tenant allows', (_, installation, rule_matched) => {
    expect(decide(ALL, installation, {}, { path: 'x' })).toMatchObject({
      ...{ effect: 'deny', decided_by: 'installation', rule_matched },
    });
  });

  test('to arguments: the installation restricts, and grants nothing that the tenant does not', () => {
    const git = (profiles: string[]) => ({ tools: { 'shell.run': { executables: { git: { profiles } } } } });
    const named = { tools: { 'shell.run': { allow_executables: ['git', 'ls'] } } };
    const verdict = (tenant: object, installation: object, ...cmd: string[]) => {
      const { allowed, decided_by } = decide(tenant, installation, exec, { cmd });
      return allowed ? 'allowed' : decided_by;
    };
    const bound = git(['read']);
    expect(verdict(git(['read', 'write']), bound, 'git', 'status')).toBe('allowed');
    expect(verdict(git(['read', 'write']), bound, 'git', 'add', 'x')).toBe('installation');
    expect(verdict(named, git(['read', 'write']), 'git', 'add', 'x')).toBe('tenant');
    expect(verdict(named, git(['read', 'write']), 'git', 'status')).toBe('allowed');
    expect(verdict(named, git(['write']), 'git', 'status')).toBe('installation');
    expect(verdict(named, { tools: { '*': { executables: { ls: { any: true } } } } }, 'ls', '-l')).toBe('allowed');
    const shell = { ...named, limits: [{ shell: true }] };
    expect(verdict(shell, git(['write']), 'git', 'add', 'x')).toBe('allowed');
    expect(verdict(shell, { version: '1.0' }, 'git', 'add', 'x')).toBe('installation');
  });

  test('a call that both policies hold needs the approvals of both', () => {
    const hold = (approvals: object) => ({ rules: [{ id: 'ask', effect: 'hold', approvals }] });
    const held = decide(hold({ required: 2 }), hold({ roles: ['admin'], expires_in_ms: 5 }));
    expect(held).toMatchObject({
      effect: 'hold',
      approvals: { required: 2, roles: ['admin'], allow_self: false, expires_in_ms: 5 },
      rules: [
        { id: 'ask', matched: true },
        { id: 'ask', matched: true, of: 'installation' },
      ],
    });
    expect(decide(ALL, hold({ required: 1 }))).toMatchObject({ effect: 'hold', decided_by: 'installation' });
    expect(decide({ rules: [{ id: 'no', effect: 'forbid' }] }, hold({}))).toMatchObject({ decided_by: 'tenant' });
  });

  test('an installation policy without entries allows nothing', () => {
    expect(decide({ version: '1.0' }, { limits: OPEN.limits })).toMatchObject({
      code: 'NO_RULE',
      decided_by: 'tenant',
    });
  });

  test('no limit exceeds that of the installation, whatever the tenant writes', () => {
    const limit = fc.record(
      {
        timeout_ms: fc.integer({ min: 1, max: 100_000 }),
        shell: fc.boolean(),
        write: fc.boolean(),
        deny_private_ips: fc.boolean(),
        env: fc.subarray(['A', 'B', 'C']),
        sandbox: fc.constantFrom('required' as const, 'preferred' as const),
        network: fc.oneof(fc.constant('none' as const), fc.subarray(['a.org', 'b.org'], { minLength: 1 })),
      },
      { requiredKeys: [] },
    );
    const documents = fc.record({ limits: fc.array(limit, { maxLength: 3 }) });
    fc.assert(
      fc.property(documents, documents, (tenant, installation) => {
        const descriptor = newTool({ runner: 'exec' });
        const of = (document: EffectivePolicy) => compilePolicy(document).decide(newRequest({ descriptor })).limits;
        const both = of({ ...parsePolicy({ ...ALL, ...tenant }), installation });
        const top = of({ ...parsePolicy({ ...ALL, ...installation }), installation: OPEN });
        expect(both.timeout_ms).toBeLessThanOrEqual(Math.max(top.timeout_ms, 30_000));
        expect(both.shell === true && top.shell !== true).toBe(false);
        expect(both.write === true && top.write === false).toBe(false);
        expect(both.deny_private_ips === false && top.deny_private_ips !== false).toBe(false);
        expect((both.env ?? []).every((name) => top.env?.includes(name))).toBe(true);
        expect(
          both.sandbox === 'preferred' && !installation.limits.some(({ sandbox }) => sandbox === 'preferred'),
        ).toBe(false);
        if (Array.isArray(top.network) && Array.isArray(both.network))
          expect(both.network.every((host) => top.network?.includes(host))).toBe(true);
        if (top.network === 'none') expect(Array.isArray(both.network)).toBe(false);
      }),
    );
  });
});

describe('an installation policy that could only grant', () => {
  test.each([
    [ALL, 'rules.0.effect: the policy of the installation only bounds'],
    [{ approved_specs: [`sha256:${'a'.repeat(64)}`] }, 'approved_specs: each tenant approves its own'],
  ])('is refused: %j', (document, message) => {
    expect(() => checkInstallation(parsePolicy(document))).toThrow(message);
  });
});

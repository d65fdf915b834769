import { Descriptor, type NewMcpServer } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { toMcpDescriptors } from './mcp-descriptors.js';
import type { McpAnnotations } from './mcp-tool.js';
import { mcpTier, mcpTrust } from './mcp-trust.js';

const LOCAL: NewMcpServer = { name: 'local', command: 'node' };
const CLOUD: NewMcpServer = { name: 'cloud', url: 'https://mcp.example.com/mcp' };
const HARMLESS: McpAnnotations = { readOnlyHint: true, openWorldHint: false };

const describeTool = (server: NewMcpServer, annotations?: McpAnnotations, over: object = {}) => {
  const tool = {
    name: 'look',
    description: 'Look something up',
    inputSchema: { type: 'object' },
    annotations,
    ...over,
  };
  const [descriptor] = toMcpDescriptors(server, [JSON.parse(JSON.stringify(tool))]).descriptors;
  if (!descriptor) throw new Error('it was skipped');
  return descriptor;
};

describe('a tool of a server', () => {
  test('becomes a descriptor under the name of its server', () => {
    const descriptor = describeTool({ ...LOCAL, timeout_ms: 1234 }, HARMLESS);
    expect(Descriptor.parse(descriptor)).toEqual(descriptor);
    expect(descriptor).toMatchObject({
      tool_id: 'mcp:local:look',
      source: 'mcp',
      origin: 'local',
      runner: 'mcp',
      binding: { kind: 'mcp', server: 'local', tool: 'look' },
      timeout_ms: 1234,
    });
  });

  test('without annotations counts as dangerous in every way, with the reason', () => {
    const descriptor = describeTool(LOCAL);
    expect(descriptor).toMatchObject({
      risk: 'HIGH',
      effects: {
        idempotent: false,
        destructive: true,
        reversible: false,
        network: true,
        filesystem: { write: true, delete: true },
        billable: true,
      },
    });
    expect(descriptor.side_effects).toEqual(expect.arrayContaining(['fs.write', 'fs.delete', 'network.http']));
    expect(descriptor.inferred.map(({ field }) => field)).toEqual(
      expect.arrayContaining(['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']),
    );
  });

  test.each<[McpAnnotations, object]>([
    [HARMLESS, { risk: 'LOW', effects: { idempotent: true, destructive: false, network: false } }],
    [
      { ...HARMLESS, openWorldHint: true },
      { risk: 'MED', effects: { network: true, filesystem: { write: false } } },
    ],
    [
      { destructiveHint: false, openWorldHint: false },
      { risk: 'MED', effects: { destructive: false, idempotent: false } },
    ],
    [{ destructiveHint: false, idempotentHint: true }, { effects: { idempotent: true, reversible: false } }],
    // Meaningless beside readOnlyHint, by the protocol.
    [{ readOnlyHint: true, destructiveHint: true }, { effects: { destructive: false } }],
  ])('with %o is %o', (annotations, expected) => {
    expect(describeTool(LOCAL, annotations)).toMatchObject(expected);
  });

  test('of a server with low trust counts as dangerous despite its hints', () => {
    const doubted = describeTool(CLOUD, HARMLESS);
    expect(doubted).toMatchObject({ trust: 'user', risk: 'HIGH', effects: { destructive: true, network: true } });
    expect(doubted.inferred[0]?.why).toContain('trusted as user');
    expect(describeTool({ ...CLOUD, trust: 'vendor' }, HARMLESS)).toMatchObject({ trust: 'vendor', risk: 'LOW' });
  });

  test('whose words indicate more risk than its hints gets the higher risk', () => {
    const named = describeTool(LOCAL, HARMLESS, { name: 'delete_repository' });
    expect(named.risk).toBe('HIGH');
    expect(named.side_effects).toContain('fs.delete');
    expect(named.inferred.some(({ why }) => why.includes('delete'))).toBe(true);
  });

  test('that cannot be used is reported, and the others are added', () => {
    const good = { name: 'good', inputSchema: { type: 'object' } };
    const { descriptors, skipped } = toMcpDescriptors(LOCAL, [
      good,
      { name: 'no schema' },
      { name: 'bare' },
      good,
      'nonsense',
      null,
    ]);
    expect(descriptors.map(({ tool_id }) => tool_id)).toEqual(['mcp:local:good']);
    expect(skipped.map(({ tool }) => tool)).toEqual(['no schema', 'bare', 'good', 'number 5', 'number 6']);
  });
});

test.each<[string, object]>([
  ['an empty name', { type: 'string', 'x-mcp-header': '' }],
  ['a blank in its name', { type: 'string', 'x-mcp-header': 'A b' }],
  ['a list', { type: 'array', 'x-mcp-header': 'List' }],
  ['a number that may have a fraction', { type: 'number', 'x-mcp-header': 'Price' }],
  ['something within a list', { type: 'array', items: { type: 'string', 'x-mcp-header': 'Item' } }],
  ['a name that another has', { type: 'string', 'x-mcp-header': 'REGION' }],
])('a tool that wants %s in a header is left out of a server over HTTP', (_, wrong) => {
  const tool = (properties: object) => ({ name: 'look', inputSchema: { type: 'object', properties } });
  const region = { type: 'string', 'x-mcp-header': 'Region' };
  const of = (server: NewMcpServer, properties: object) =>
    toMcpDescriptors(server, [JSON.parse(JSON.stringify(tool(properties)))]).descriptors.length;
  expect(of(CLOUD, { region })).toBe(1);
  expect(of(CLOUD, { region, wrong })).toBe(0);
  // There are no headers over pipes.
  expect(of(LOCAL, { region, wrong })).toBe(1);
});

test.each([
  [LOCAL, 'local', 'org'],
  [CLOUD, 'cloud', 'user'],
  ...[
    'http://127.0.0.1:1',
    'http://10.1.2.3',
    'http://[::1]:80',
    'http://mcp',
    'http://a.internal',
    'http://192.168.0.1',
  ].map((url) => [{ name: 'x', url }, 'remote', 'community']),
  ...['http://8.8.8.8', 'http://172.32.0.1', 'http://internal.example.com', 'http://[2001:db8::1]'].map((url) => [
    { name: 'x', url },
    'cloud',
    'user',
  ]),
] as [NewMcpServer, string, string][])('the tier of %o is %s and its trust %s', (server, tier, trust) => {
  expect(mcpTier(server)).toBe(tier);
  expect(mcpTrust(server)).toBe(trust);
});

import { toEntry } from '@capstan/catalog';
import { NO_EFFECTS } from '@capstan/contracts';
import { expect, test } from 'vitest';
import { mcpNames } from './mcp-names.js';

const entries = (...ids: string[]) =>
  ids.map((tool_id) =>
    toEntry({
      tool_id,
      name: tool_id,
      description: '',
      source: 'core',
      origin: 'core',
      runner: 'builtin',
      binding: { kind: 'native' },
      input_schema: {},
      risk: 'LOW',
      side_effects: [],
      effects: NO_EFFECTS,
      trust: 'native',
      inferred: [],
    }),
  );
const namesOf = (...ids: string[]) => [...mcpNames(entries(...ids)).keys()];

test('the name of a tool is its id in characters that every client accepts', () => {
  expect(namesOf('cap:test_math:add', 'shell.run', 'mcp:a:b/c d')).toEqual([
    'cap_test_math_add',
    'shell_run',
    'mcp_a_b_c_d',
  ]);
});

test('ids that would share a name get different names, each with its own hash at the end', () => {
  const names = namesOf('cap:a_b:c', 'cap:a:b_c', 'cap:other:d');
  expect(new Set(names).size).toBe(3);
  expect(names.filter((name) => /^cap_a_b_c_[0-9a-f]{8}$/.test(name))).toHaveLength(2);
});

test('a name resolves to its tool whatever other tools exist', () => {
  const long = `mcp:server:${'x'.repeat(200)}`;
  const named = mcpNames(entries('cap:a_b:c', 'cap:a:b_c', long, `${long}y`, 'mcp:server:naïve'));
  expect(named.size).toBe(5);
  for (const name of named.keys()) expect(name).toMatch(/^[A-Za-z0-9_-]{1,63}$/);
  expect(new Set([...named.values()].map(({ descriptor }) => descriptor.tool_id)).size).toBe(5);
});

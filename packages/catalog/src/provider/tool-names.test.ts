import { existsSync, readFileSync } from 'node:fs';
import type { Descriptor } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { parseAtip } from '../atip/parse-atip.js';
import { testTool as tool } from './testing/test-tool.js';
import { findByName, nameTools } from './tool-names.js';

const names = (...descriptors: Descriptor[]) => nameTools(descriptors).map(({ name }) => name);

const gh = new URL('../../../../../shared/corpora/atip/gh.json', import.meta.url);

const list = new URL('../../../../node_modules/big-list-of-naughty-strings/blns.json', import.meta.url);
const naughty: string[] = JSON.parse(readFileSync(list, 'utf8'));

describe('tool names', () => {
  test('are valid for every provider and unique, whatever the ids of the tools are', () => {
    const long = 'x'.repeat(200);
    const tools = [...naughty, long, `${long}y`, '1st', '-a', 'a.b', 'a_b'].map((name, at) =>
      tool(`mcp:s${at}:${name}`, { name }),
    );
    const given = names(...tools);
    for (const name of given) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,62}$/);
    expect(new Set(given).size).toBe(tools.length);
    expect(names(...tools)).toEqual(given);
  });

  test('are assigned in order in case of conflict: short, with the source, with a hash; duplicates are dropped', () => {
    const [a, b] = [tool('mcp:a:read'), tool('mcp:b:read')];
    expect(names(a, b, a)).toEqual(['read', 'mcp_b_read']);
    expect(names(b, a)).toEqual(['read', 'mcp_a_read']);
    expect(names(tool('mcp_b:read'), tool('x:mcp_b_read'), tool('mcp:b:read'))).toEqual([
      'read',
      'mcp_b_read',
      expect.stringMatching(/^mcp_b_read_[0-9a-f]{8}$/),
    ]);
  });

  test.skipIf(!existsSync(gh))('of ATIP commands are the tool and its path, and every one maps back', () => {
    const { descriptors: tools } = parseAtip(JSON.parse(readFileSync(gh, 'utf8')));
    const named = nameTools(tools);
    expect(named.map(({ name }) => name)).toContain('gh_pr_create');
    for (const { name, descriptor } of named)
      expect(findByName(tools, name)).toEqual({ kind: 'found', tool_id: descriptor.tool_id });
  });

  test('are found by id, long name and short name; an ambiguous name finds all its tools', () => {
    const tools = [tool('mcp:a:read'), tool('mcp:b:read'), tool('mcp:b:write')];
    expect(findByName(tools, 'mcp:a:read')).toMatchObject({ tool_id: 'mcp:a:read' });
    expect(findByName(tools, 'mcp_b_read')).toMatchObject({ tool_id: 'mcp:b:read' });
    expect(findByName(tools, 'write')).toMatchObject({ tool_id: 'mcp:b:write' });
    expect(findByName(tools, 'read')).toEqual({ kind: 'ambiguous', tool_ids: ['mcp:a:read', 'mcp:b:read'] });
    expect(findByName(tools, 'nope')).toEqual({ kind: 'unknown' });
  });
});

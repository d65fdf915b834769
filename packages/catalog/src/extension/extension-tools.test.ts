import type { JsonObject } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { only } from './testing/parse-parts.js';

describe('undeclared effects', () => {
  test.each<[JsonObject, string[], string, string[]]>([
    [{ description: 'Look at it' }, [], 'MED', ['system.exec']],
    [{ description: 'Delete a file' }, [], 'HIGH', ['fs.delete', 'system.exec']],
    [{ description: 'Write a file' }, [], 'HIGH', ['fs.write', 'system.exec']],
    [{ id: 'execRemote' }, [], 'HIGH', ['system.exec']],
    [{ description: 'Look at it' }, ['network'], 'HIGH', ['network.http', 'system.exec']],
    [{ description: 'Refund a customer' }, [], 'CRITICAL', ['payments', 'system.exec']],
    [{ description: 'Look at it' }, ['cloud.aws'], 'CRITICAL', ['cloud.resource_create', 'system.exec']],
    [{ description: 'Look', side_effects: [] }, ['exec'], 'MED', []],
    [{ description: 'Undeleted, rewritten', side_effects: [] }, [], 'MED', []],
  ])('of %j with %j is inferred: %s, %j', (action, permissions_required, risk, side_effects) => {
    const found = only(action, { permissions_required });
    expect(found).toMatchObject({ risk, side_effects });
    expect(found.inferred).toEqual(expect.arrayContaining([{ field: 'risk', why: expect.stringContaining(risk) }]));
  });

  test('are inferred, while declared ones are kept unless there is stricter evidence', () => {
    expect(only({ risk: 'LOW', side_effects: [] })).toMatchObject({ risk: 'LOW' });
    expect(only({ risk: 'CRITICAL' })).toMatchObject({ risk: 'CRITICAL' });
    const raised = only({ risk: 'LOW', side_effects: ['fs.read'], description: 'delete it' });
    expect(raised).toMatchObject({ risk: 'HIGH', side_effects: ['fs.read', 'fs.delete'] });
    expect(raised.inferred.map(({ why }) => why).join()).toContain('the word "delete"');
  });

  test('do not include network for an action that declares to need none', () => {
    const found = only(
      { risk: 'LOW', side_effects: [], effects: { network: false } },
      { permissions_required: ['network'] },
    );
    expect(found).toMatchObject({ risk: 'LOW', side_effects: [], binding: { permissions: [] } });
  });
});

describe('the output schema of a command', () => {
  const streams = { stdout: { type: 'string' }, stderr: { type: 'string' }, exit_code: { type: 'integer' } };
  test.each<[JsonObject, JsonObject]>([
    [{}, streams],
    [{ output: 'json' }, { ...streams, json: {} }],
    [{ output: 'lines' }, { ...streams, lines: { type: 'array', items: { type: 'string' } } }],
    [
      { output: 'json', output_schema: { type: 'object' } },
      { ...streams, json: { type: 'object' } },
    ],
  ])('of %j has its streams and what is made of them', (action, properties) => {
    expect(only(action).output_schema).toEqual({ type: 'object', required: Object.keys(properties), properties });
  });
});

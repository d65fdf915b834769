import type { JsonObject } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import type { SessionPort } from '../session-port.js';
import { testCall, testDescriptor } from '../testing/test-call.js';
import { createBuiltinRunner } from './create-builtin-runner.js';

const run = (tool_id: string, inputs: JsonObject, session: SessionPort | null = null) =>
  createBuiltinRunner().run(testCall(testDescriptor({ tool_id }), { inputs, session }));

describe('noop', () => {
  test('returns its input, synchronously', () => {
    expect(run('cap:noop:noop', { a: [1] })).toEqual({ success: true, payload: { a: [1] } });
  });
});

describe('test_weather', () => {
  test('invents the same weather for the same city, ignoring case, and other weather for others', () => {
    const weather = (city: string) => JSON.stringify(run('cap:test_weather:get_weather', { city })).replace(city, '');
    expect(weather('Paris')).toBe(weather('PARIS'));
    expect(weather('Paris')).not.toBe(weather('Tokyo'));
  });

  test('is the same temperature in either unit', () => {
    const at = (unit: string) => run('cap:test_weather:get_weather', { city: 'Oslo', unit });
    const celsius = JSON.parse(JSON.stringify(at('celsius'))).payload.temperature;
    expect(at('fahrenheit')).toMatchObject({
      payload: { temperature: Math.round((celsius * 9) / 5 + 32), unit: 'fahrenheit' },
    });
  });

  test('forecasts five days, or the requested number', () => {
    const days = (inputs: JsonObject) =>
      JSON.parse(JSON.stringify(run('cap:test_weather:get_forecast', inputs))).payload.forecast.map(
        ({ day }: { day: number }) => day,
      );
    expect(days({ city: 'Rome' })).toEqual([1, 2, 3, 4, 5]);
    expect(days({ city: 'Rome', days: 2 })).toEqual([1, 2]);
  });

  test.each([{}, { city: ' ' }, { city: 'x', unit: 'kelvin' }, { city: 'x', days: 0 }, { city: 'x', days: 1.5 }])(
    'refuses %j',
    (inputs) => {
      expect(run('cap:test_weather:get_forecast', inputs)).toMatchObject({ kind: 'INVALID_INPUTS' });
    },
  );
});

describe('write_todos', () => {
  const todo = (status: string) => ({ content: 'Run tests', activeForm: 'Running tests', status });
  const write = (...statuses: string[]) => run('cap:stateless_todo_list:write_todos', { todos: statuses.map(todo) });

  test('counts the tasks and returns the list', () => {
    expect(write('completed', 'in_progress', 'pending')).toEqual({
      success: true,
      payload: {
        success: true,
        total_tasks: 3,
        pending: 1,
        in_progress: 1,
        completed: 1,
        todos: ['completed', 'in_progress', 'pending'].map(todo),
        warnings: [],
      },
    });
  });

  test.each([
    [['pending'], 'no task is in_progress'],
    [['in_progress', 'in_progress'], '2 tasks are in_progress'],
  ])('%j is accepted with a warning', (statuses, warning) => {
    expect(write(...statuses)).toMatchObject({
      success: true,
      payload: { warnings: [expect.stringContaining(warning)] },
    });
  });

  test('an empty list and a finished one need no warning', () => {
    expect(write()).toMatchObject({ payload: { total_tasks: 0, warnings: [] } });
    expect(write('completed')).toMatchObject({ payload: { warnings: [] } });
  });

  test.each([null, 'x', [1], [{ content: '', activeForm: 'x', status: 'pending' }], [todo('done')]])(
    'refuses %j',
    (todos) => {
      expect(run('cap:stateless_todo_list:write_todos', { todos })).toMatchObject({ kind: 'INVALID_INPUTS' });
    },
  );
});

describe('the scratchpad', () => {
  const told: unknown[] = [];
  const session: SessionPort = {
    files: {
      stat: async () => null,
      read: async () => null,
      write: () => Promise.reject(),
      list: async () => null,
      texts: async function* () {},
      remove: () => Promise.reject(),
    },
    notes: {
      write: async (...args) => {
        told.push(args);
        return args[1].length > 3
          ? { kind: 'full', limit: 'section', max: 3 }
          : { kind: 'written', size_bytes: args[1].length };
      },
      read: async (section) => [{ section: section ?? 'all', content: 'c', updated_at: '2026-01-01T00:00:00Z' }],
      clear: async () => 2,
    },
  };

  test('writes, reads and clears through the session', async () => {
    expect(await run('cap:research:write_scratchpad', { section: 's', content: 'abc' }, session)).toMatchObject({
      payload: { size_bytes: 3 },
    });
    expect(told).toEqual([['s', 'abc', 'replace']]);
    expect(await run('cap:research:read_scratchpad', {}, session)).toMatchObject({
      payload: { count: 1, sections: [{ section: 'all' }] },
    });
    expect(await run('cap:research:clear_scratchpad', { section: 's' }, session)).toEqual({
      success: true,
      payload: { cleared: 2 },
    });
  });

  test('reports that it is full, that there is no session, and invalid headings', async () => {
    expect(await run('cap:research:write_scratchpad', { section: 's', content: 'abcd' }, session)).toMatchObject({
      kind: 'TOOL_ERROR',
    });
    expect(await run('cap:research:read_scratchpad', {})).toMatchObject({
      error: expect.stringContaining('session_id'),
    });
    for (const section of ['', 'x'.repeat(201), 'a\u0000', '\ud800', 1])
      expect(await run('cap:research:write_scratchpad', { section, content: '' }, session)).toMatchObject({
        kind: 'INVALID_INPUTS',
      });
  });
});

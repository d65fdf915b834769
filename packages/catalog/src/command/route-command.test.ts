import { type Descriptor, type JsonObject, NO_EFFECTS } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { parseExtension } from '../extension/parse-extension.js';
import { type CommandExtension, routeCommand } from './route-command.js';
import { splitLine } from './split-line.js';

const COMMANDS = `
slash_commands:
  - name: /postman
    summary: HTTP from the chat
    examples: ["/postman get https://example.com"]
    actions:
      - id: get
        description: Send a GET request
        runner: exec.curl
        argv: ["--header", "{{header}}", "--max-time", "{{max_time}}", "--", "{{url}}"]
        input_schema:
          type: object
          required: [url]
          properties:
            header: { type: string }
            max_time: { type: integer }
            verbose: { type: boolean }
            url: { type: string }
            tags: { type: array, items: { type: number } }
            body: { type: object }
          additionalProperties: false
      - { id: run, description: As typed, runner: exec.postman_cli }
      - { id: explain, description: Explain, runner: analyze.response }
  - name: /go
    summary: Another
    default_action: fetch
    actions:
      - { id: fetch, runner: exec.go, argv: ["{{url}}"] }
      - { id: other, runner: exec.go, argv: [] }
  - name: /echo
    actions:
      - { id: say, runner: exec.echo, argv: ["{{...words}}"] }
`;
const explainer: Descriptor = {
  tool_id: 'analyze.response',
  name: 'analyze.response',
  description: '',
  source: 'core',
  origin: 'core',
  runner: 'analyze',
  binding: { kind: 'native' },
  input_schema: { type: 'object', properties: { content: {} } },
  risk: 'MED',
  side_effects: [],
  effects: NO_EFFECTS,
  trust: 'native',
  inferred: [],
};
const { commands, descriptors } = parseExtension(
  { manifest: { id: 'tools.postman', name: 'Postman', version: '1.0.0' }, commands: COMMANDS },
  () => explainer,
);
const extension = (over: Partial<CommandExtension> = {}): CommandExtension => ({
  extension_id: 'tools.postman',
  name: 'Postman',
  enabled: true,
  commands: commands.slash_commands,
  ...over,
});
const route = (line: string, over: Partial<CommandExtension> = {}) =>
  routeCommand(line, [extension(over)], (tool_id) => {
    const found = descriptors.find((each) => each.tool_id === tool_id);
    if (!found) return undefined;
    const { input_schema, binding } = found;
    return { input_schema, takes_typed: binding.kind === 'command' && binding.argv === null };
  });

describe('a slash command', () => {
  test.each<[string, string, JsonObject]>([
    ['/postman get https://example.com', 'get', { url: 'https://example.com' }],
    ['  /POSTMAN GET https://example.com  ', 'get', { url: 'https://example.com' }],
    [`/postman get 'a b' --header "X: y"`, 'get', { url: 'a b', header: 'X: y' }],
    ['/postman get --max-time=5 u', 'get', { url: 'u', max_time: 5 }],
    ['/postman get --max_time 5 u', 'get', { url: 'u', max_time: 5 }],
    ['/postman get --verbose u', 'get', { url: 'u', verbose: true }],
    ['/postman get --verbose=false u', 'get', { url: 'u', verbose: false }],
    ['/postman get u hdr 7', 'get', { url: 'u', header: 'hdr', max_time: 7 }],
    ['/postman get --tags 1 --tags 2 u', 'get', { url: 'u', tags: [1, 2] }],
    ['/postman get u --body \'{"a": 1}\'', 'get', { url: 'u', body: { a: 1 } }],
    ['/postman get u --max_time five', 'get', { url: 'u', max_time: 'five' }],
    ['/postman get -- --odd', 'get', { url: '--odd' }],
    ['/postman get --header=a=b u', 'get', { url: 'u', header: 'a=b' }],
    ['/postman run collection.json --env dev -v', 'run', { args: ['collection.json'], flags: { env: 'dev', v: true } }],
    [
      '/postman run u --n=3 -name x --a=b=c',
      'run',
      { args: ['u'], flags: { '--n=': '3', '-name': 'x', '--a=': 'b=c' } },
    ],
    ['/postman run u --n 3', 'run', { args: ['u'], flags: { '--n': '3' } }],
    ['/postman run', 'run', { args: [] }],
    ['/postman explain last_response', 'explain', { content: 'last_response' }],
    ['/go https://x', 'fetch', { url: 'https://x' }],
    ['/go fetch https://x', 'fetch', { url: 'https://x' }],
    ['/echo one "two three"', 'say', { words: ['one', 'two three'] }],
  ])('%s runs %s with %j', (line, action, inputs) => {
    expect(route(line)).toMatchObject({ kind: 'run', action, tool_id: `ext:tools.postman:${action}`, inputs });
  });

  test.each(['/postman', '/postman help', '/postman --help', '/postman get --help'])('%s helps', (line) => {
    const help = route(line);
    expect(help).toMatchObject({ kind: 'help', command: '/postman' });
    expect(help).toHaveProperty('text', expect.stringContaining('/postman get <url> [--header]'));
    expect(help).toHaveProperty('text', expect.stringContaining('/postman get https://example.com'));
  });

  test('/help names every command of an enabled extension', () => {
    expect(route('/help')).toMatchObject({ kind: 'help', text: expect.stringContaining('/postman') });
    expect(route('/help', { enabled: false })).toMatchObject({ text: expect.not.stringContaining('/postman') });
  });

  test('a mistyped command or action is answered with similar ones', () => {
    expect(route('/postmn get x')).toMatchObject({ kind: 'unknown', similar: ['/postman'] });
    expect(route('/postman gte x')).toMatchObject({ kind: 'unknown', similar: ['/postman get'] });
    expect(route('/zzz')).toMatchObject({ kind: 'unknown', similar: [] });
  });

  test('of a disabled extension is refused with that reason', () => {
    expect(route('/postman get x', { enabled: false })).toEqual({
      kind: 'disabled',
      command: '/postman',
      extension_id: 'tools.postman',
    });
  });

  test.each<[string, RegExp]>([
    ['postman get x', /begins with a slash/],
    ['/postman get "x', /not closed/],
    ['/postman get u h 5 true 1 2 3 four', /./],
    ['/postman get u --nope 3', /there is no --nope; it takes --header.*Write -- before/],
    ['/go a b', /one argument too many; quote/],
  ])('%s is refused', (line, message) => {
    const refused = route(line);
    if (refused.kind === 'run') expect(refused.inputs).toHaveProperty('tags');
    else expect(refused).toMatchObject({ kind: 'invalid', message: expect.stringMatching(message) });
  });
});

test.each<[string, string[]]>([
  ['a b', ['a', 'b']],
  [`'a b'"c d" e`, ['a bc d', 'e']],
  [`"a \\"b\\" \\n"`, ['a "b" \\n']],
  [`a\\ b`, ['a b']],
  [`'' ""`, ['', '']],
  [`--k="a b"`, ['--k=a b']],
  ['   ', []],
  ['日本 語', ['日本', '語']],
])('the line %j has the words %j', (line, words) => {
  expect(splitLine(line)).toEqual({ words });
});

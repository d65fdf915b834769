import { type Descriptor, type JsonObject, NO_EFFECTS } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { parseExtension } from './parse-extension.js';
import { readExtensionFolder } from './read-extension-folder.js';
import { folderWith } from './testing/folder-with.js';
import { errorsOf, manifest, only, parse, withActions } from './testing/parse-parts.js';

describe('an extension', () => {
  test('of the documented format becomes tools', () => {
    const commands = `
slash_commands:
  - name: /text
    summary: Small text tools
    examples: ["/text wc 'one two'"]
    actions:
      - id: wc
        description: Count the words of a text
        runner: exec.wc
        argv: ["-w"]
        stdin: "{{text}}"
        request: { }
        input_schema:
          type: object
          required: [text]
          properties: { text: { type: string } }
          additionalProperties: false
        output: text
        risk: LOW
        side_effects: []
        effects: { network: false, idempotent: true, reversible: true, destructive: false }
        env: [LANG, 'API_KEY=secret://tools/key']
        timeout_ms: 5000
`;
    const { descriptors, tools_hash } = parse(commands);
    expect(tools_hash).toBeNull();
    expect(descriptors).toMatchObject([
      {
        tool_id: 'ext:text.tools:wc',
        source: 'extension',
        origin: 'text.tools',
        runner: 'exec',
        risk: 'LOW',
        side_effects: [],
        trust: 'org',
        timeout_ms: 5000,
        effects: { network: false, idempotent: true, billable: true, filesystem: { write: true } },
        binding: {
          kind: 'command',
          executable: 'wc',
          argv: ['-w'],
          stdin: '{{text}}',
          env: ['LANG', 'API_KEY=secret://tools/key'],
        },
      },
    ]);
  });

  test('of AgentOS loads unchanged', () => {
    const agentos = manifest({
      id: 'tools.postman',
      author: 'AgentOS Team',
      license: 'Apache-2.0',
      entrypoint: null,
      icon: 'icon.png',
      platforms: ['linux', 'darwin', 'win32'],
      install: { mode: 'agentos_managed', plan: 'install/plan.yaml' },
      docs: { usage: 'docs/USAGE.md' },
      permissions_required: ['network', 'exec'],
    });
    const commands = `
slash_commands:
  - name: "/postman"
    summary: "Postman CLI"
    description: "API testing"
    examples: ["/postman get https://httpbin.org/get"]
    maps_to:
      capability: "tools.postman"
      actions:
        - id: "get"
          description: "Send GET request"
          runner: "exec.postman_cli"
        - id: "explain"
          description: "Explain API response"
          runner: "analyze.response"
`;
    const { descriptors } = parseExtension({ manifest: agentos, commands, usage: '# Postman' }, () => undefined);
    expect(descriptors).toMatchObject([
      {
        tool_id: 'ext:tools.postman:get',
        runner: 'exec',
        risk: 'HIGH',
        side_effects: ['network.http', 'system.exec'],
        binding: { kind: 'command', executable: 'postman', argv: null, permissions: ['network', 'exec'] },
        input_schema: { properties: { args: { type: 'array' }, flags: { type: 'object' } } },
      },
      {
        tool_id: 'ext:tools.postman:explain',
        runner: 'analyze',
        binding: { kind: 'action', action: 'analyze.response' },
      },
    ]);
  });

  test('of AgentOS’ earlier format, with one script for a command, also loads', async () => {
    const folder = await folderWith({
      'manifest.json': JSON.stringify(manifest({ id: 'demo.hello', permissions_required: [] })),
      'commands/commands.yaml': `commands:
  - name: /hello
    description: Say hello
    entrypoint: commands/hello.sh
    args:
      - name: name
        description: Name to greet (optional)
        required: false
        default: "World"
    examples:
      - command: /hello
        description: Display basic greeting
`,
      'commands/hello.sh': '#!/bin/sh\necho hello "$1"\n',
      'install/plan.yaml': 'steps: []',
      'docs/USAGE.md': '# Hello',
    });
    const source = await readExtensionFolder(folder);
    const { descriptors, files, usage } = parseExtension(source, () => undefined);
    expect(usage).toBe('# Hello');
    expect(files.map(({ name }) => name)).toEqual(['hello.sh']);
    expect(descriptors).toMatchObject([
      { tool_id: 'ext:demo.hello:hello', binding: { executable: 'hello.sh', argv: ['{{name}}'] } },
    ]);
  });

  test.each<[string, object]>([
    ['exec.curl', { kind: 'command', executable: 'curl' }],
    ['exec.postman_cli', { kind: 'command', executable: 'postman' }],
    ['exec.my_tool', { kind: 'command', executable: 'my' }],
    ['analyze.schema', { kind: 'action', action: 'analyze.schema' }],
    ['browser.navigate', { kind: 'action', action: 'browser.navigate' }],
    ['api.call', { kind: 'action', action: 'api.call' }],
    ['api.post', { kind: 'action', action: 'api.call', preset: { method: 'POST' } }],
    ['file.read', { kind: 'action', action: 'fs.read' }],
    ['file.write', { kind: 'action', action: 'fs.write' }],
    ['file.list_directory', { kind: 'action', action: 'cap:session_file_system:list_directory' }],
    ['db.read', { kind: 'action', action: 'db.read' }],
    ['db.query', { kind: 'action', action: 'db.query' }],
  ])('the runner %s is bound to %j', (runner, binding) => {
    expect(only({ runner }).binding).toMatchObject(binding);
  });

  test('an action with a request requires the inputs that its templates name', () => {
    const request = { url: 'https://example.com/{{id}}', query: { q: '{{words}}' }, body: { a: ['{{id}}'] } };
    expect(only({ runner: 'api.put', request })).toMatchObject({
      runner: 'api',
      binding: { kind: 'request', method: 'PUT', ...request },
      input_schema: { required: ['id', 'words'] },
    });
  });

  test('preset inputs are not part of the schema, and the action is as dangerous as the tool that runs it', () => {
    const native: Descriptor = {
      ...only({}),
      tool_id: 'analyze.schema',
      binding: { kind: 'native' },
      risk: 'MED',
      side_effects: ['payments'],
      input_schema: { type: 'object', required: ['operation', 'x'], properties: { operation: {}, x: {} } },
      effects: { ...NO_EFFECTS, billable: true },
    };
    const action = { id: 'infer', runner: 'analyze.schema', preset: { operation: 'infer' }, risk: 'LOW' };
    const [descriptor] = parseExtension(
      { manifest: manifest({ permissions_required: ['network'] }), commands: withActions(action) },
      () => native,
    ).descriptors;
    expect(descriptor).toMatchObject({
      risk: 'MED',
      side_effects: ['payments'],
      effects: { billable: true, network: false, idempotent: true },
      input_schema: { required: ['x'], properties: { x: {} } },
      binding: { kind: 'action', action: 'analyze.schema', preset: { operation: 'infer' } },
    });
  });

  test('an action without a schema has the inputs of its templates', () => {
    expect(only({ argv: ['{{pattern}}', '{{...files}}'] }).input_schema).toEqual({
      type: 'object',
      required: ['pattern', 'files'],
      properties: { pattern: { type: 'string' }, files: { type: 'array', items: { type: 'string' } } },
      additionalProperties: false,
    });
  });
});

describe('a wrong extension is refused with file and place', () => {
  test.each<[string, unknown, JsonObject, object]>([
    ['an unknown field', withActions(), { nmae: 'x' }, { file: 'manifest.json', field: 'nmae' }],
    ['an id with a colon', withActions(), { id: 'a:b' }, { file: 'manifest.json', field: 'id' }],
    ['YAML that is none', 'a: [', {}, { file: 'commands.yaml', field: 'line 1, column 5' }],
    ['no actions', withActions(), {}, { file: 'commands.yaml', message: 'brings no action' }],
    ['an action without a runner', withActions({ id: 'a' }), {}, { field: 'slash_commands.0.actions.0.runner' }],
    ['an unknown runner', withActions({ id: 'a', runner: 'ftp.get' }), {}, { message: 'there is no runner "ftp.get"' }],
    [
      'a path for an executable',
      withActions({ id: 'a', runner: 'exec./bin/sh' }),
      {},
      { field: 'slash_commands.0.actions.0.runner' },
    ],
    [
      'a mistyped field',
      withActions({ id: 'a', runner: 'exec.a', argvv: [] }),
      {},
      { field: 'slash_commands.0.actions.0.argvv' },
    ],
    [
      'an action twice',
      withActions({ id: 'a', runner: 'exec.a' }, { id: 'a', runner: 'exec.b' }),
      {},
      { message: 'a is there twice' },
    ],
    [
      'an unknown side effect',
      withActions({ id: 'a', runner: 'exec.a', side_effects: ['x'] }),
      {},
      { field: 'slash_commands.0.actions.0.side_effects.0' },
    ],
    [
      'a schema that does not compile',
      withActions({ id: 'a', runner: 'exec.a', input_schema: { type: 'x' } }),
      {},
      { field: 'slash_commands.0.actions.0.input_schema' },
    ],
    [
      'a template for an unknown input',
      withActions({
        id: 'a',
        runner: 'exec.a',
        argv: ['{{x}}'],
        input_schema: { properties: {}, additionalProperties: false },
      }),
      {},
      { message: '{{x}} is not a property of its input_schema' },
    ],
    [
      'a template for an unknown input, where the schema takes others, too',
      withActions({ id: 'a', runner: 'exec.a', argv: ['{{y}}', '--x={{x}}'], input_schema: { properties: { y: {} } } }),
      {},
      { message: '{{x}} is not a property of its input_schema' },
    ],
    [
      'a template for an unknown input, where the schema names none',
      withActions({ id: 'a', runner: 'exec.a', argv: [], stdin: '{{x}}', input_schema: { type: 'object' } }),
      {},
      { message: '{{x}} is not a property of its input_schema' },
    ],
    [
      'an input in the middle of a statement',
      withActions({ id: 'a', runner: 'db.read', preset: { sql: 'SELECT * FROM t WHERE id = {{id}}' } }),
      {},
      { message: '{{id}} is not filled in: preset takes an input only as a whole value' },
    ],
    [
      'a template for an unknown input of a request',
      withActions({
        ...{ id: 'a', runner: 'api.get', request: { url: 'https://example.com/{{ x }}' } },
        input_schema: { type: 'object', properties: { y: {} } },
      }),
      {},
      { message: '{{x}} is not a property of its input_schema' },
    ],
    [
      'a list in a request',
      withActions({ id: 'a', runner: 'api.get', request: { url: 'https://example.com/{{...x}}' } }),
      {},
      { message: '{{...x}} is not filled in: a request takes no lists' },
    ],
    [
      'a template with blanks, which no command line is filled from',
      withActions({ id: 'a', runner: 'exec.a', argv: ['{{ x }}'], input_schema: { properties: { x: {} } } }),
      {},
      { message: '{{ x }} is not filled in: write it without blanks' },
    ],
    [
      'a default that is not there',
      { slash_commands: [{ name: '/x', default_action: 'b', actions: [{ id: 'a', runner: 'exec.a' }] }] },
      {},
      { field: 'slash_commands.0.default_action' },
    ],
    ['a command without a slash', { slash_commands: [{ name: 'x' }] }, {}, { field: 'slash_commands.0.name' }],
  ])('%s', (_, commands, over, error) => {
    expect(errorsOf(() => parse(commands, over))).toMatchObject([error]);
  });

  test("a program's own template syntax is kept, and a branch of the schema may define an input", () => {
    const input_schema = { anyOf: [{ properties: { x: {} } }, { properties: { y: {} } }] };
    const argv = ['--format={{json .}}', '{{ .Names }}', '{{x}}', '{{y}}'];
    expect(() => parse(withActions({ id: 'a', runner: 'exec.a', argv, input_schema }))).not.toThrow();
  });

  test('a billion-laughs document in YAML is refused', () => {
    const levels = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
    for (let at = 1; at < 10; at += 1) {
      const [before, name] = ['abcdefghij'.charAt(at - 1), 'abcdefghij'.charAt(at)];
      levels.push(`${name}: &${name} [${Array.from({ length: 10 }, () => `*${before}`).join(', ')}]`);
    }
    expect(errorsOf(() => parse(levels.join('\n')))).toMatchObject([{ file: 'commands.yaml' }]);
  });

  test.each(['../evil', 'a/../b', '-rf', '', 'a b'])('an executable called %j', (name) => {
    const commands = withActions({ id: 'a', runner: 'exec.a' });
    expect(errorsOf(() => parse(commands, {}, new Map([[name, new Uint8Array()]])))).toMatchObject([
      { file: 'tools/' },
    ]);
  });
});

import { describe, expect, test } from 'vitest';
import { readMcpFile } from './mcp-file.js';

const read = (servers: object) => readMcpFile({ mcpServers: servers });

describe('an mcp.json', () => {
  test('is read in the formats that other clients write', () => {
    const servers = read({
      files: {
        command: 'npx',
        args: ['-y', 'server', '/data'],
        env: { TOKEN: 'x' },
        type: 'stdio',
        autoApprove: ['a'],
      },
      docs: { type: 'http', url: 'https://docs.example.com/mcp', headers: { Authorization: 'Bearer secret://docs' } },
      off: { command: 'x', disabled: true },
      choosy: { httpUrl: 'https://x.example/mcp', trust: true, includeTools: ['a'], excludeTools: ['b'], timeout: 60 },
      surfer: { serverUrl: 'https://x.example/mcp', disabledTools: ['c'] },
      zed: { source: 'custom', command: { path: 'y', args: ['z'], env: {} }, settings: {} },
      pilot: { type: 'local', command: 'x', tools: ['*'] },
      cursor: { url: 'https://x.example/mcp', auth: { CLIENT_ID: 'ours', scopes: ['read', 'write'] } },
      claude: { type: 'http', url: 'https://x.example/mcp', oauth: { clientId: 'ours', callbackPort: 8080 } },
      code: { type: 'stdio', command: 'x', dev: { watch: 'src' }, sandboxEnabled: true },
      'acme/files': { command: 'x' },
      'Sequential Thinking': { command: 'x' },
    });
    expect(servers).toEqual([
      { name: 'files', command: 'npx', args: ['-y', 'server', '/data'], env: { TOKEN: 'x' } },
      { name: 'docs', url: 'https://docs.example.com/mcp', headers: { Authorization: 'Bearer secret://docs' } },
      { name: 'off', command: 'x', enabled: false },
      { name: 'choosy', url: 'https://x.example/mcp', tools: { allow: ['a'], deny: ['b'] } },
      { name: 'surfer', url: 'https://x.example/mcp', tools: { deny: ['c'] } },
      { name: 'zed', command: 'y', args: ['z'], env: {} },
      { name: 'pilot', command: 'x', tools: { allow: ['*'] } },
      { name: 'cursor', url: 'https://x.example/mcp', oauth: { client_id: 'ours', scope: 'read write' } },
      { name: 'claude', url: 'https://x.example/mcp', oauth: { client_id: 'ours' } },
      { name: 'code', command: 'x' },
      { name: 'acme-files', command: 'x' },
      { name: 'Sequential-Thinking', command: 'x' },
    ]);
  });

  test.each<[string, object, RegExp]>([
    ['both transports', { a: { command: 'x', url: 'http://x.example' } }, /mcpServers\.a: .*either command/],
    ['no transport', { a: {} }, /mcpServers\.a: .*either command/],
    ['headers of a program', { a: { command: 'x', headers: { a: 'b' } } }, /headers go with url/],
    ['the old transport', { a: { type: 'sse', url: 'http://x.example' } }, /mcpServers\.a\.type: "sse"/],
    ['a name with a colon', { 'a:b': { command: 'x' } }, /mcpServers\.a:b: name: letters/],
    ['two names that become one', { 'a b': { command: 'x' }, 'a/b': { command: 'x' } }, /would be named a-b/],
    ['a misspelt field', { a: { command: 'x', arg: [] } }, /arg: is not a known field/],
    [
      'a variable to be expanded',
      { a: { command: 'x', env: { T: ['$', '{TOKEN}'].join('') } } },
      /env\.T: variables are not expanded/,
    ],
    ['credentials in the URL', { a: { url: 'https://me:pw@x.example/' } }, /no credentials/],
    ['a line break in a header', { a: { url: 'https://x.example/', headers: { a: 'b\r\nc: d' } } }, /no control/],
    ['another protocol', { a: { url: 'file:///etc/passwd' } }, /mcpServers\.a: url/],
  ])('with %s is refused, and the place is named', (_, servers, said) => {
    expect(() => read(servers)).toThrow(said);
  });

  test('with several faults has all of them named with their server', () => {
    let refused: unknown;
    try {
      read({ a: { command: 'x', cwd: '.', envFile: '.env' } });
    } catch (error) {
      refused = error;
    }
    expect(refused).toMatchObject({
      context: { errors: [{ field: 'mcpServers.a.cwd' }, { field: 'mcpServers.a.envFile' }] },
    });
  });

  test('without mcpServers is refused', () => {
    expect(() => readMcpFile({ servers: {} })).toThrow(/mcpServers/);
  });
});

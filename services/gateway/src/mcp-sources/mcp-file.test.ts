import { describe, expect, test } from 'vitest';
import { readMcpFile } from './mcp-file.js';

const read = (servers: object) => readMcpFile({ mcpServers: servers });

describe('an mcp.json', () => {
  test('is read as other clients write it', () => {
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
    });
    expect(servers).toEqual([
      { name: 'files', command: 'npx', args: ['-y', 'server', '/data'], env: { TOKEN: 'x' } },
      { name: 'docs', url: 'https://docs.example.com/mcp', headers: { Authorization: 'Bearer secret://docs' } },
      { name: 'off', command: 'x', enabled: false },
    ]);
  });

  test.each<[string, object, RegExp]>([
    ['both transports', { a: { command: 'x', url: 'http://x.example' } }, /mcpServers\.a: .*either command/],
    ['no transport', { a: {} }, /mcpServers\.a: .*either command/],
    ['headers of a program', { a: { command: 'x', headers: { a: 'b' } } }, /headers go with url/],
    ['the old transport', { a: { type: 'sse', url: 'http://x.example' } }, /mcpServers\.a\.type: "sse"/],
    ['a name with a colon', { 'a:b': { command: 'x' } }, /mcpServers\.a:b: name: letters/],
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

  test('without mcpServers is none', () => {
    expect(() => readMcpFile({ servers: {} })).toThrow(/mcpServers/);
  });
});

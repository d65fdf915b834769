import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../fixtures/at-end.js';
import { freePort } from '../fixtures/free-port.js';
import { startLineProcess } from '../fixtures/start-line-process.js';
import { inRepository } from './mcp-policy.js';
import { ALLOW_ALL, type System, startSystem } from './start-system.js';

const EVERYTHING = inRepository('node_modules/@modelcontextprotocol/server-everything/dist/index.js');

/** Answers like a registry with these servers in each version of the API. */
async function startRegistry(versions: Record<string, Record<string, object>>): Promise<string> {
  const registry = createServer(({ url = '' }, response) => {
    const [, version = '', name = ''] = /^\/([^/]+)\/servers\/([^/]+)\/versions\/latest$/.exec(url) ?? [];
    const server = versions[version]?.[decodeURIComponent(name)];
    response.writeHead(server ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(server ? { server, _meta: {} } : { title: 'Not Found', status: 404 }));
  });
  registry.listen(0, '127.0.0.1');
  await once(registry, 'listening');
  atEnd(() => {
    registry.closeAllConnections();
    registry.close();
  });
  return `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`;
}

describe('A registry of MCP servers', () => {
  let system: System;
  beforeAll(async () => {
    const port = await freePort();
    const everything = await startLineProcess({
      command: [process.execPath, EVERYTHING, 'streamableHttp'],
      env: { PORT: String(port), PATH: process.env.PATH ?? '' },
      cwd: inRepository('.'),
    });
    atEnd(() => everything.killGroup('SIGKILL'));
    await everything.waitForLine(/listening on port/i);
    const token = { name: 'TOKEN', isRequired: true, isSecret: true };
    const mcp_registry_url = await startRegistry({
      'v0.1': {
        'com.example/everything': { remotes: [{ type: 'streamable-http', url: `http://127.0.0.1:${port}/mcp` }] },
        'com.example/old': { remotes: [{ type: 'sse', url: 'https://old.example/sse' }] },
      },
      v0: {
        'io.github.acme/files': {
          packages: [
            { registryType: 'oci', identifier: 'docker.example/acme/files', transport: { type: 'stdio' } },
            {
              registryType: 'npm',
              identifier: '@acme/files',
              version: '1.2.3',
              transport: { type: 'stdio' },
              packageArguments: [
                { type: 'named', name: '--mode', value: 'fast' },
                { type: 'positional', valueHint: 'folder' },
              ],
              environmentVariables: [token, { name: 'LEVEL', default: 'info' }],
            },
          ],
        },
      },
    });
    system = await startSystem({ name: 'postgres' }, { gateway: { mcp_registry_url } });
    await system.admin.policies.put('default', ALLOW_ALL);
  });

  test('resolves a server that is added by its name alone, and its tools can be called', async () => {
    const added = await system.admin.mcpServers.add({ registry: 'com.example/everything' });
    expect(added).toMatchObject({ name: 'everything', transport: 'http', status: 'ready' });
    const call = { tool_id: 'mcp:everything:echo', inputs: { message: 'hi' } };
    expect(await system.admin.submit(call, { wait_s: 30 })).toMatchObject({
      result: { payload: { content: [{ text: 'Echo: hi' }] } },
    });
  });

  test('says how to start a package, in its current version and with the variables it needs', async () => {
    const files = { registry: 'io.github.acme/files', name: 'mine', enabled: false };
    await expect(system.admin.mcpServers.add(files)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('needs TOKEN'),
      suggestion: expect.stringContaining('--env TOKEN='),
    });
    expect(await system.admin.mcpServers.add({ ...files, env: { TOKEN: 'secret://files' } })).toMatchObject({
      name: 'mine',
      command: 'npx',
      args: ['-y', '@acme/files@1.2.3', '--mode', 'fast'],
      env: { TOKEN: 'secret://files', LEVEL: '[hidden]' },
    });
  });

  test('without a usable server of the given name makes adding it fail', async () => {
    await expect(system.admin.mcpServers.add({ registry: 'com.example/none' })).rejects.toMatchObject({ status: 404 });
    await expect(system.admin.mcpServers.add({ registry: 'com.example/old' })).rejects.toMatchObject({ status: 400 });
    await expect(system.admin.mcpServers.add({ registry: '../../x' })).rejects.toMatchObject({ status: 400 });
  });
});

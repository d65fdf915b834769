import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type JsonObject, type NewMcpServer, NO_EFFECTS } from '@capstan/contracts';
import { execa } from 'execa';
import { afterAll } from 'vitest';
import type { Call, RunOutcome } from '../../runner.js';
import { testCall, testDescriptor } from '../../testing/test-call.js';
import { createMcpRunner } from '../create-mcp-runner.js';

// The built one, because servers are processes of their own.
export const FIXTURE = fileURLToPath(new URL('../../../dist/mcp/testing/fixture-server.js', import.meta.url));

/** A runner that knows the servers which a test adds, and `fixture`; ended with the test file. */
export async function useTestMcp() {
  const servers = new Map<string, NewMcpServer>();
  servers.set('fixture', { name: 'fixture', command: 'node', args: [FIXTURE] });
  const stale: string[] = [];
  let changed = () => {};
  const work_dir = await mkdtemp(join(tmpdir(), 'capstan-mcp-'));
  const runner = createMcpRunner({
    work_dir,
    env: { PATH: process.env.PATH, CANARY: 'a-secret-of-the-worker' },
    ports: {
      server: async (name) => {
        const config = servers.get(name);
        return config ? { config, allow_private: true } : null;
      },
      stale: (name) => stale.push(name),
      onChange: (listener) => {
        changed = listener;
      },
    },
  });
  const endpoints: Endpoint[] = [];
  const startHttp = async (env: Record<string, string> = {}, port = 0): Promise<Endpoint> => {
    // Files in its home are deleted after the test.
    const endpoint = await startEndpoint({ HOME: work_dir, ...env }, port);
    endpoints.push(endpoint);
    return endpoint;
  };
  afterAll(async () => {
    await runner.close?.();
    for (const { kill } of endpoints) await kill();
    await rm(work_dir, { recursive: true, force: true });
  });
  return {
    servers,
    stale,
    work_dir,
    runner,
    run: async (server: string, tool: string, inputs: JsonObject = {}, over: Partial<Call> = {}) =>
      runner.run(callOf(server, tool, inputs, over)),
    startHttp,
    addHttp: async (name: string): Promise<Endpoint> => {
      const endpoint = await startHttp();
      servers.set(name, { name, url: endpoint.url });
      return endpoint;
    },
    change: () => changed(),
  };
}

export const callOf = (server: string, tool: string, inputs: JsonObject = {}, over: Partial<Call> = {}): Call =>
  testCall(
    testDescriptor({
      tool_id: `mcp:${server}:${tool}`,
      runner: 'mcp',
      source: 'mcp',
      binding: { kind: 'mcp', server, tool },
      effects: NO_EFFECTS,
    }),
    { inputs, ...over },
  );

export const textOf = (outcome: RunOutcome) =>
  outcome.success
    ? (outcome.payload as { content: { text: string }[] }).content.map((block) => block.text).join('')
    : outcome.error;

type Endpoint = { url: string; port: number; kill(): Promise<unknown> };

async function startEndpoint(env: Record<string, string>, port: number): Promise<Endpoint> {
  const child = execa('node', [FIXTURE, 'http', String(port)], {
    env,
    stdout: 'pipe',
    stderr: 'inherit',
    reject: false,
  });
  const kill = async () => {
    child.kill('SIGKILL');
    await child;
  };
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  const listening = Number(/listening on (\d+)/.exec(String(line))?.[1]);
  return { url: `http://127.0.0.1:${listening}/mcp`, port: listening, kill };
}

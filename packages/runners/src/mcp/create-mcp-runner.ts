import { Failure, type RunFacts } from '@capstan/contracts';
import { createEgress, type Egress, urlRefusal } from '@capstan/egress';
import { createRedactor } from '@capstan/redact';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Call, Runner, RunOutcome, ToolFailure } from '../runner.js';
import { isSandboxRequired } from '../sandbox/require-sandbox.js';
import type { SandboxLevel } from '../sandbox/sandbox.js';
import { callLog } from './call-log.js';
import { connect } from './connection.js';
import { type ConnectionPool, createConnectionPool, type Lease } from './connection-pool.js';
import { discoverTools } from './discover-tools.js';
import { createHttpTransport } from './http-transport.js';
import { callFailure, connectFailure, isForgottenSession } from './mcp-failure.js';
import type { McpPorts } from './mcp-ports.js';
import { type ResolvedServer, resolveServer } from './resolve-server.js';
import { createServerSpawner, type ServerSpawner } from './server-spawner.js';
import { toOutcome } from './to-outcome.js';

export type McpRunnerOptions = {
  ports: McpPorts;
  work_dir: string;
  env?: Record<string, string | undefined>;
  egress?: Egress | undefined;
  /** Only these levels of containment; all by default. */
  sandbox_levels?: readonly SandboxLevel[] | undefined;
  /** How long a server that nobody calls is kept. */
  idle_ms?: number;
  /** How long a server may take to answer its first message. */
  start_ms?: number;
  max_connections?: number;
};

const DEFAULTS = { idle_ms: 300_000, start_ms: 30_000, max_connections: 64 };
/** A server that does not answer a ping after its call was stopped hangs, and is ended. */
const PING_MS = 2000;

/** Calls tools of registered MCP servers, and lists them (`mcp.discover`). */
export function createMcpRunner(options: McpRunnerOptions): Runner {
  const { ports, egress = createEgress(), idle_ms, start_ms, max_connections } = { ...DEFAULTS, ...options };
  const spawner = createServerSpawner(options, egress);
  const pool = createConnectionPool({
    idle_ms,
    max_connections,
    open: (server, say, onEnd) => {
      const { name, url } = server.config;
      return connect({
        ...(url === undefined
          ? { spawn: () => spawner.spawn(server) }
          : { transport: createHttpTransport(server, new URL(url), egress) }),
        ...{ say, onEnd, start_ms, onToolsChanged: () => ports.stale(name) },
      });
    },
  });
  // What was disabled or removed must not linger; what is still wanted opens again.
  ports.onChange(pool.closeIdle);
  return {
    type: 'mcp',
    run: (call) => run({ pool, ports, spawner }, call).catch(expected),
    close: async () => {
      await pool.close();
      await spawner.close();
      if (!options.egress) await egress.close();
    },
  };
}

/** Faults of the runner go on; a secret that is not there, a wall that is missing, a host that is closed are outcomes. */
function expected(error: unknown): ToolFailure {
  if (!(error instanceof Failure)) throw error;
  return { success: false, kind: error.kind, error: error.message, retryable: error.retryable };
}

type Means = { pool: ConnectionPool; ports: McpPorts; spawner: ServerSpawner };

async function run({ pool, ports, spawner }: Means, call: Call): Promise<RunOutcome> {
  const { binding } = call.descriptor;
  const name = binding.kind === 'mcp' ? binding.server : String(call.inputs.server ?? '');
  const settings = await ports.server(name);
  if (!settings)
    return {
      ...{ success: false, kind: 'MCP_SERVER_FAILED', retryable: false },
      error: `there is no MCP server ${name}, or it is disabled`,
    };
  const server = await resolveServer(settings, call);
  const facts = await factsOf(server, spawner, call);
  const first = await useOnce(pool, ports, call, server);
  // The server was restarted and has forgotten us, so it has done nothing either.
  const outcome = first === 'forgotten' ? settle(await useOnce(pool, ports, call, server), name) : first;
  return { ...outcome, facts };
}

/** The walls a program runs behind, or the host that was contacted; a Failure when the walls are too low for this call. */
async function factsOf({ config: { url } }: ResolvedServer, spawner: ServerSpawner, call: Call): Promise<RunFacts> {
  if (url !== undefined) {
    const refusal = urlRefusal(url, { ...networkOf(call), deny_private_ips: false });
    if (refusal !== null) throw new Failure('EGRESS_DENIED', { detail: refusal });
    return { observed: { domains: [new URL(url).hostname] } };
  }
  return { sandbox: await spawner.level(isSandboxRequired(call.limits, call.descriptor.risk)) };
}

/** Whether its address may be private was settled when the host was registered. */
const networkOf = ({ limits: { network, deny_domains } }: Call) => ({
  ...(network === undefined ? {} : { network }),
  ...(deny_domains === undefined ? {} : { deny_domains }),
});

const settle = (outcome: RunOutcome | 'forgotten', name: string): RunOutcome =>
  outcome === 'forgotten' ? connectFailure(name, new Error('it forgets its sessions at once')) : outcome;

async function useOnce(
  pool: ConnectionPool,
  ports: McpPorts,
  call: Call,
  server: ResolvedServer,
): Promise<RunOutcome | 'forgotten'> {
  const { name } = server.config;
  const own = server.secrets.length > 0 ? createRedactor({ values: server.secrets }) : null;
  const redactText = (text: string) => (own ? own.text(call.redact.text(text)) : call.redact.text(text));
  const log = callLog(call, redactText);
  const clean = (failure: ToolFailure): ToolFailure => ({ ...failure, error: redactText(failure.error) });

  let lease: Lease;
  try {
    lease = await pool.acquire(server, log.hear, call.signal);
  } catch (error) {
    if (!call.signal.aborted && call.descriptor.binding.kind === 'mcp') ports.stale(name);
    return clean(connectFailure(name, error));
  }
  const { connection } = lease;
  try {
    return call.descriptor.binding.kind === 'mcp'
      ? await callTool(call, lease, call.descriptor.binding.tool, log.progress, (value) =>
          own ? own.json(call.redact.json(value)) : call.redact.json(value),
        )
      : await discoverTools(connection.client, call.signal, requestTimeout(call));
  } catch (error) {
    if (isForgottenSession(error) && connection.ended() === null) {
      pool.drop(server);
      return 'forgotten';
    }
    if (call.signal.aborted) endIfHanging(lease, () => pool.drop(server));
    else ports.stale(name);
    return clean(callFailure(name, error, connection.ended(), call.descriptor.effects.idempotent));
  } finally {
    log.end();
    lease.release();
  }
}

async function callTool(
  call: Call,
  { connection: { client } }: Lease,
  tool: string,
  onprogress: (progress: { progress: number; total?: number | undefined; message?: string | undefined }) => void,
  redact: Parameters<typeof toOutcome>[2],
): Promise<RunOutcome> {
  const result = await client.request(
    { method: 'tools/call', params: { name: tool, arguments: call.inputs } },
    CallToolResultSchema,
    // When the signal aborts, the SDK tells the server (notifications/cancelled) and rejects at once.
    { signal: call.signal, timeout: requestTimeout(call), onprogress },
  );
  return toOutcome(call, result, redact);
}

/** The worker's own deadline comes first; this is for a worker that forgot. */
const requestTimeout = ({ limits }: Call): number => limits.timeout_ms + 5000;

function endIfHanging({ connection }: Lease, drop: () => void): void {
  connection.client.ping({ timeout: PING_MS }).catch(drop);
}

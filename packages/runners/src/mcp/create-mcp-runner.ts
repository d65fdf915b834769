import { Failure, type RunFacts } from '@capstan/contracts';
import { createEgress, type Egress, urlRefusal } from '@capstan/egress';
import type { Redactor } from '@capstan/redact';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Call, Runner, RunOutcome, ToolFailure } from '../runner.js';
import { sandboxNeeds } from '../sandbox/require-sandbox.js';
import type { SandboxLevel } from '../sandbox/sandbox.js';
import type { UserRange } from '../sandbox/tool-users.js';
import { callLog } from './call-log.js';
import { connect } from './connection.js';
import { type ConnectionPool, createConnectionPool, type Lease } from './connection-pool.js';
import { discoverTools } from './discover-tools.js';
import { createHttpTransport } from './http-transport.js';
import { callFailure, connectFailure, isForgottenSession } from './mcp-failure.js';
import type { McpPorts } from './mcp-ports.js';
import { isOnline, type ResolvedServer, resolveServer } from './resolve-server.js';
import { createServerSpawner, type ServerSpawner } from './server-spawner.js';
import { toOutcome } from './to-outcome.js';

export type McpRunnerOptions = {
  ports: McpPorts;
  work_dir: string;
  env?: Record<string, string | undefined>;
  egress?: Egress | undefined;
  /** Only these levels of containment; all by default. */
  sandbox_levels?: readonly SandboxLevel[] | undefined;
  /** The users that servers run as where the worker is root, one for each tenant. */
  tool_uids?: UserRange | undefined;
  /** How long a server that nobody calls is kept. */
  idle_ms?: number;
  /** How long a server may take to answer its first message. */
  start_ms?: number;
  max_connections?: number;
};

const DEFAULTS = { idle_ms: 300_000, start_ms: 30_000, max_connections: 64 };
/** A server that does not answer a ping after its call was stopped hangs, and is ended. */
const PING_MS = 2000;
const MAX_DOMAINS = 100;

/** Calls tools of registered MCP servers, and lists them (`mcp.discover`). */
export function createMcpRunner(options: McpRunnerOptions): Runner {
  const { ports, egress = createEgress(), idle_ms, start_ms, max_connections } = { ...DEFAULTS, ...options };
  const spawner = createServerSpawner(options, egress);
  const pool = createConnectionPool({
    idle_ms,
    max_connections,
    open: (server, all, onEnd) => {
      const { name, url } = server.config;
      return connect({
        ...(url === undefined
          ? { spawn: () => spawner.spawn(server, all.domain) }
          : { transport: createHttpTransport(server, new URL(url), egress) }),
        ...{ say: all.text, onEnd, start_ms, onToolsChanged: () => ports.stale(name) },
      });
    },
  });
  // What was changed, disabled or removed must not linger; the others keep their state.
  ports.onChange(() => void pool.closeUnwanted((server) => isCurrent(server, ports)));
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

async function isCurrent({ config, allow_private }: ResolvedServer, ports: McpPorts): Promise<boolean> {
  const now = await ports.server(config.name);
  return now !== null && now.allow_private === allow_private && JSON.stringify(now.config) === JSON.stringify(config);
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
  const domains = new Set(facts.observed?.domains);
  const use = () => useOnce({ pool, ports, domains }, call, server);
  const first = await use();
  // The server was restarted and has forgotten us, so it has done nothing either.
  const outcome = first === 'forgotten' ? settle(await use(), name) : first;
  return { ...outcome, facts: facts.observed ? { ...facts, observed: { domains: [...domains] } } : facts };
}

/** The walls a program runs behind, or the host that was contacted; a Failure when the walls are too low for this call. */
async function factsOf({ config, rules }: ResolvedServer, spawner: ServerSpawner, call: Call): Promise<RunFacts> {
  const { url } = config;
  if (url !== undefined) {
    // Whether its address may be private was settled when the host was registered.
    const refusal = urlRefusal(url, { ...rules, deny_private_ips: false });
    if (refusal !== null) throw new Failure('EGRESS_DENIED', { detail: refusal });
    return { observed: { domains: [new URL(url).hostname] } };
  }
  // Without walls nothing would keep a program to what the policy says of the network.
  const isLimited = rules.network !== undefined || rules.deny_domains !== undefined;
  const needs = sandboxNeeds(call.limits, call.descriptor.risk);
  const { level, fact } = await spawner.containment(call.tenant, { ...needs, walls: isLimited || needs.walls });
  return { sandbox: fact, ...(isOnline(config) && level !== 'process' ? { observed: { domains: [] } } : {}) };
}

const settle = (outcome: RunOutcome | 'forgotten', name: string): RunOutcome =>
  outcome === 'forgotten' ? connectFailure(name, new Error('it forgets its sessions at once')) : outcome;

type Using = Pick<Means, 'pool' | 'ports'> & { domains: Set<string> };

async function useOnce(
  { pool, ports, domains }: Using,
  call: Call,
  server: ResolvedServer,
): Promise<RunOutcome | 'forgotten'> {
  const { name } = server.config;
  const redact = call.redact.with(server.secrets);
  const log = callLog(call, redact);
  const clean = (failure: ToolFailure): ToolFailure => ({ ...failure, error: redact.text(failure.error) });
  const domain = (hostname: string) => {
    if (domains.size < MAX_DOMAINS) domains.add(hostname);
  };

  let lease: Lease;
  try {
    lease = await pool.acquire(server, { text: log.hear, domain }, call.signal);
  } catch (error) {
    if (!call.signal.aborted && call.descriptor.binding.kind === 'mcp') ports.stale(name);
    return clean(connectFailure(name, error));
  }
  const { connection } = lease;
  try {
    return call.descriptor.binding.kind === 'mcp'
      ? await callTool(call, lease, call.descriptor.binding.tool, log.progress, redact)
      : await discoverTools(connection.client, call.signal, requestTimeout(call));
  } catch (error) {
    if (isForgottenSession(error) && connection.ended() === null) {
      lease.drop();
      return 'forgotten';
    }
    if (call.signal.aborted) lease.doubt(connection.client.ping({ timeout: PING_MS }));
    else ports.stale(name);
    return clean(callFailure(name, error, connection.ended(), call.descriptor.effects.idempotent));
  } finally {
    log.end();
    lease.release();
  }
}

/** As the conventions for MCP say it: servers find the trace in `_meta`. */
const traced = ({ traceparent }: Call) => (traceparent === undefined ? {} : { _meta: { traceparent } });

async function callTool(
  call: Call,
  { connection: { client } }: Lease,
  tool: string,
  onprogress: (progress: { progress: number; total?: number | undefined; message?: string | undefined }) => void,
  redact: Redactor,
): Promise<RunOutcome> {
  const result = await client.request(
    { method: 'tools/call', params: { name: tool, arguments: call.inputs, ...traced(call) } },
    CallToolResultSchema,
    // When the signal aborts, the SDK tells the server (notifications/cancelled) and rejects at once.
    { signal: call.signal, timeout: requestTimeout(call), onprogress },
  );
  return toOutcome(call, result, redact);
}

/** The worker's own deadline comes first; this is for a worker that forgot. */
const requestTimeout = ({ limits }: Call): number => limits.timeout_ms + 5000;

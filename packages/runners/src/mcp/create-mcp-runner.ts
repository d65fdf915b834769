import { Failure, type NewMcpServer, type QuestionRequest, type RunFacts } from '@capstan/contracts';
import { createEgress, type Egress, urlRefusal } from '@capstan/egress';
import type { Client } from '@modelcontextprotocol/client';
import type { Call, Runner, RunOutcome, ToolFailure } from '../runner.js';
import { sandboxNeeds } from '../sandbox/require-sandbox.js';
import type { SandboxLevel } from '../sandbox/sandbox.js';
import type { UserRange } from '../sandbox/tool-users.js';
import { callLog } from './call-log.js';
import { CALLER_ASKS, callServer, requestTimeout } from './call-server.js';
import { type Connection, connect, type Listener } from './connection.js';
import { type ConnectionPool, createConnectionPool, type Lease } from './connection-pool.js';
import { discover } from './discover.js';
import { createHttpTransport } from './http-transport.js';
import { callFailure, connectFailure, isForgottenSession } from './mcp-failure.js';
import type { McpPorts } from './mcp-ports.js';
import { ProcessTransport } from './process-transport.js';
import { isOnline, type ResolvedServer, resolveServer } from './resolve-server.js';
import { createServerSpawner, type ServerSpawner } from './server-spawner.js';

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
    open: createOpener({ spawner, ports, egress, start_ms }),
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

type Opener = { spawner: ServerSpawner; ports: McpPorts; egress: Egress; start_ms: number };

/** How long a server is taken to speak the older protocol only, without being asked. */
const LEGACY_MS = 3_600_000;

function createOpener({ spawner, ports, egress, start_ms }: Opener) {
  const legacy = new Map<string, number>();
  return async (server: ResolvedServer, all: Listener, onEnd: () => void): Promise<Connection> => {
    const { config, key } = server;
    const { name, url } = config;
    let isConnected = false;
    const open = (is_legacy: boolean) =>
      connect({
        transport: (ears) =>
          url === undefined
            ? new ProcessTransport({ spawn: () => spawner.spawn(server, all.domain), ...ears })
            : createHttpTransport(server, new URL(url), egress, ports.tokens?.(server, server.actor, egress)),
        ...{ config, is_legacy, listener: all, start_ms },
        onListChanged: () => ports.stale(name),
        onResourceUpdated: (uri) => ports.updated?.(name, uri),
        // A program that ends at the first question is started again, and only then has it ended.
        onEnd: () => isConnected && onEnd(),
      });
    const isKnown = (legacy.get(key) ?? 0) > performance.now();
    const connection = await open(isKnown).catch((error: unknown) => {
      // Some programs end at a request that they do not know.
      if (url !== undefined || isKnown || error instanceof Failure) throw error;
      return open(true);
    });
    isConnected = true;
    if (connection.client.getProtocolEra() === 'legacy') legacy.set(key, performance.now() + LEGACY_MS);
    return connection;
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
    lease = await pool.acquire(server, { text: log.hear, domain, ask: askerOf(call, server.config) }, call.signal);
  } catch (error) {
    if (!call.signal.aborted && call.descriptor.binding.kind === 'mcp') ports.stale(name);
    return clean(connectFailure(name, error));
  }
  const { connection } = lease;
  try {
    const { client } = connection;
    return call.descriptor.binding.kind === 'mcp'
      ? await callServer({ call, client, config: server.config, log, redact }, call.descriptor.binding)
      : await discover(client, call.signal, requestTimeout(call));
  } catch (error) {
    if (isForgottenSession(error) && connection.ended() === null) {
      lease.drop();
      return 'forgotten';
    }
    if (call.signal.aborted) lease.doubt(stillAnswers(connection.client));
    else ports.stale(name);
    return clean(callFailure(name, error, connection.ended(), call.descriptor.effects.idempotent));
  } finally {
    log.end();
    lease.release();
  }
}

/** The newest protocol has no ping. */
const stillAnswers = (client: Client): Promise<unknown> =>
  client.getProtocolEra() === 'modern' ? client.discover({ timeout: PING_MS }) : client.ping({ timeout: PING_MS });

/** What a server of the 2025 protocol may ask of the call that is under way. */
const askerOf =
  (call: Call, { asks = [] }: NewMcpServer): Listener['ask'] =>
  async (request) => {
    const what = request.method.split('/')[0];
    if ((what === 'sampling' || what === 'roots') && !(asks.includes(what) && callerTakes(call, what))) return null;
    const asked = call.redact.json(JSON.parse(JSON.stringify(request))) as QuestionRequest;
    return (await call.ask({ requests: { [QUESTION]: asked } }))?.[QUESTION] ?? null;
  };

const QUESTION = 'question';
const callerTakes = ({ labels }: Call, what: string): boolean => (labels[CALLER_ASKS] ?? '').split(' ').includes(what);

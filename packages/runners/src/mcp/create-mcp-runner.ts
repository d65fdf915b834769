import { basename } from 'node:path';
import { Failure, type NewMcpServer, QuestionRequest, type RunFacts, toJson } from '@capstan/contracts';
import { createEgress, type Egress, urlRefusal } from '@capstan/egress';
import { type SandboxLevel, sandboxNeeds, type UserRange } from '@capstan/sandbox';
import type { Client } from '@modelcontextprotocol/client';
import type { Call, Runner, RunOutcome, ToolFailure, WaitingCall } from '../runner.js';
import { callLog } from './call-log.js';
import { CALLER_ASKS, callServer, requestTimeout } from './call-server.js';
import { type Connection, connect, type Listener } from './connection.js';
import { ConnectionPool, type Lease } from './connection-pool.js';
import { discover } from './discover.js';
import { createHttpTransport } from './http-transport.js';
import { callFailure, connectFailure, isForgottenSession, isLate } from './mcp-failure.js';
import type { McpPorts } from './mcp-ports.js';
import { ProcessTransport } from './process-transport.js';
import { ReadCache } from './read-cache.js';
import { isOnline, type ResolvedServer, resolveServer } from './resolve-server.js';
import { createServerSpawner, type ServerSpawner } from './server-spawner.js';
import { cancelTask, HeldState, stillAsks } from './upstream-task.js';

export type McpRunnerOptions = {
  ports: McpPorts;
  work_dir: string;
  env?: Record<string, string | undefined>;
  egress?: Egress | undefined;
  /** Only these sandbox levels. Default: all. */
  sandbox_levels?: readonly SandboxLevel[] | undefined;
  /** The users that servers run as if the worker is root, one for each tenant. */
  tool_uids?: UserRange | undefined;
  /** How long an idle server is kept. */
  idle_ms?: number;
  /** How long a server may take to answer its first message. */
  start_ms?: number;
  max_connections?: number;
};

const DEFAULTS = { idle_ms: 300_000, start_ms: 30_000, max_connections: 64 };
/** If a server does not answer a ping within this time after its call was stopped, it hangs and is stopped. */
const PING_MS = 2000;
const MAX_DOMAINS = 100;

/** Calls tools of registered MCP servers, and lists them (`mcp.discover`). */
export function createMcpRunner(options: McpRunnerOptions): Runner {
  const { ports, egress = createEgress(), idle_ms, start_ms, max_connections } = { ...DEFAULTS, ...options };
  const spawner = createServerSpawner(options, egress);
  const pool = new ConnectionPool({
    idle_ms,
    max_connections,
    open: createOpener({ spawner, ports, egress, start_ms }),
  });
  const reads = new ReadCache();
  ports.onUpdated?.((isChanged) => reads.drop(isChanged));
  // Connections to servers that were changed, disabled or removed are closed. The others keep their state.
  ports.onChange(() => void pool.closeUnwanted((server) => isCurrent(server, ports)));
  return {
    type: 'mcp',
    run: (call) => run({ pool, ports, spawner, reads }, call).catch(expected),
    stillAsks: (call, state) => {
      const held = HeldState.parse(state);
      return withClient({ pool, ports, spawner }, call, (client) => stillAsks(client, held, call.signal));
    },
    abandon: async (call, state) => {
      const { task_id } = HeldState.parse(state);
      await withClient({ pool, ports, spawner }, call, (client) => cancelTask(client, task_id));
    },
    close: async () => {
      await pool.close();
      await spawner.close();
      if (!options.egress) await egress.close();
    },
  };
}

type Opener = { spawner: ServerSpawner; ports: McpPorts; egress: Egress; start_ms: number };

/** How long a server is assumed to speak only the older protocol without another probe. */
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
        // A program that exits at the protocol probe is started again, so that first exit does not count.
        onEnd: () => isConnected && onEnd(),
      });
    const isKnown = (legacy.get(key) ?? 0) > performance.now();
    const connection = await open(isKnown).catch((error: unknown) => {
      // Some programs exit at a request that they do not know.
      if (url !== undefined || isKnown || error instanceof Failure || isLate(error)) throw error;
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

/** Faults of the runner are thrown on. A missing secret, a missing sandbox or a refused host is an outcome. */
function expected(error: unknown): ToolFailure {
  if (!(error instanceof Failure)) throw error;
  return { success: false, kind: error.kind, error: error.message, retryable: error.retryable };
}

type Means = { pool: ConnectionPool; ports: McpPorts; spawner: ServerSpawner };
type RunMeans = Means & { reads: ReadCache };

/** One request for a held call, for which no attempt is running. Other messages of the server are ignored. */
async function withClient<T>(means: Means, call: WaitingCall, use: (client: Client) => Promise<T>): Promise<T> {
  const { binding } = call.descriptor;
  const settings = binding.kind === 'mcp' ? await means.ports.server(binding.server) : null;
  if (!settings) throw new Failure('MCP_SERVER_FAILED', { detail: 'The MCP server is gone, or disabled.' });
  const server = await resolveServer(settings, call);
  await factsOf(server, means.spawner, call);
  const deaf: Listener = { text: () => {}, domain: () => {}, ask: async () => null };
  const lease = await means.pool.acquire(server, deaf, call.signal);
  try {
    return await use(lease.connection.client);
  } catch (error) {
    if (isForgottenSession(error)) lease.drop();
    throw error;
  } finally {
    lease.release();
  }
}

async function run({ pool, ports, spawner, reads }: RunMeans, call: Call): Promise<RunOutcome> {
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
  const use = () => useOnce({ pool, ports, reads, domains }, call, server);
  const first = await use();
  // The server was restarted and does not know the session, so it has done nothing, and a second try is safe.
  const outcome = first === 'forgotten' ? settle(await use(), name) : first;
  return { ...outcome, facts: facts.observed ? { ...facts, observed: { domains: [...domains] } } : facts };
}

/** The sandbox of a program, or the host that was contacted. A Failure if the sandbox does not meet the needs of this call. */
async function factsOf(
  { config, rules }: ResolvedServer,
  spawner: ServerSpawner,
  call: WaitingCall,
): Promise<RunFacts> {
  const { url } = config;
  if (url !== undefined) {
    // Whether its address may be private was decided when the host was registered.
    const refusal = urlRefusal(url, { ...rules, deny_private_ips: false });
    if (refusal !== null) throw new Failure('EGRESS_DENIED', { detail: refusal });
    return { observed: { domains: [new URL(url).hostname] } };
  }
  // Without a sandbox nothing would hold a program to the policy's network rules.
  const isLimited = rules.network !== undefined || rules.deny_domains !== undefined;
  const needs = sandboxNeeds(call.limits, call.descriptor.risk);
  const { level, fact } = await spawner.containment(call.tenant, { ...needs, walls: isLimited || needs.walls });
  return { sandbox: fact, ...(isOnline(config) && level !== 'process' ? { observed: { domains: [] } } : {}) };
}

const settle = (outcome: RunOutcome | 'forgotten', name: string): RunOutcome =>
  outcome === 'forgotten' ? connectFailure(name, new Error('it forgets its sessions at once')) : outcome;

type Using = Omit<RunMeans, 'spawner'> & { domains: Set<string> };

async function useOnce(
  { pool, ports, reads, domains }: Using,
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
  const over = new AbortController();
  const ask = askerOf(call, server.config, over.signal);
  try {
    lease = await pool.acquire(server, { text: log.hear, domain, ask }, call.signal);
  } catch (error) {
    if (!call.signal.aborted && call.descriptor.binding.kind === 'mcp') ports.stale(name);
    return clean(connectFailure(name, error, startHint(server.config)));
  }
  const { connection } = lease;
  try {
    const { client } = connection;
    return call.descriptor.binding.kind === 'mcp'
      ? await callServer({ call, client, server, reads, log, redact }, call.descriptor.binding)
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
    over.abort();
    log.end();
    lease.release();
  }
}

/** Programs that download what they run. */
const DOWNLOADERS: ReadonlySet<string> = new Set(['npx', 'uvx', 'bunx', 'pnpx', 'pipx']);

/** What may help if a program did not start. */
function startHint({ command, permissions = [] }: NewMcpServer): string {
  const program = command === undefined ? '' : basename(command);
  return DOWNLOADERS.has(program) && !permissions.includes('network')
    ? `; ${program} downloads what it runs, and needs the permission network for that (and home, to keep it)`
    : '';
}

/** The newest protocol has no ping. */
const stillAnswers = (client: Client): Promise<unknown> =>
  client.getProtocolEra() === 'modern' ? client.discover({ timeout: PING_MS }) : client.ping({ timeout: PING_MS });

/** Lets a server of the 2025 protocol ask questions during a call, until it is `over`. */
const askerOf =
  (call: Call, { asks = [] }: NewMcpServer, over: AbortSignal): Listener['ask'] =>
  async (request, signal) => {
    const what = request.method.split('/')[0];
    if ((what === 'sampling' || what === 'roots') && !(asks.includes(what) && callerTakes(call, what))) return null;
    const asked = QuestionRequest.parse(call.redact.json(toJson(request)));
    const answers = await call.ask({ requests: { [QUESTION]: asked } }, AbortSignal.any([over, signal]));
    return answers?.[QUESTION] ?? null;
  };

const QUESTION = 'question';
const callerTakes = ({ labels }: Call, what: string): boolean => (labels[CALLER_ASKS] ?? '').split(' ').includes(what);

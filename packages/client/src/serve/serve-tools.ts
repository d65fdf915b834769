import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type ConnectionOptions, findConnection } from '../find-connection.js';
import { openTransport } from '../transport.js';
import { openPool } from './pool.js';
import { PoolWorker, type PoolWorkerOptions } from './pool-worker.js';
import { testTool } from './test-tool.js';
import { type AnyTool, declare } from './tool.js';

export type ServeOptions = ConnectionOptions & {
  /** The tools are called as `app:<pool>:<id>`; every pool has a queue of its own. */
  pool: string;
  tools: readonly AnyTool[];
  /** How many calls run at once. */
  concurrency?: number;
  /** Names what these tools are; by default a hash of their declarations. */
  version?: string;
  /** How long calls that run may go on when it is stopped. */
  drain_ms?: number;
  onError?: PoolWorkerOptions['onError'];
};

export type ToolWorker = {
  worker_id: string;
  version: string;
  tools: { tool_id: string; descriptor_hash: string }[];
  /** Takes no more; what runs may end; the rest goes back to the queue. */
  stop(): Promise<void>;
};

const CONCURRENCY = 10;
const DRAIN_MS = 30_000;

/** Serves tools in this process until it is stopped. Resolves once their declarations are taken. */
async function serve(options: ServeOptions): Promise<ToolWorker> {
  const { tools, concurrency = CONCURRENCY, drain_ms = DRAIN_MS } = options;
  const declarations = tools.map(declare);
  const version = options.version ?? hashOf(declarations);
  const transport = openTransport({ ...findConnection(options), connections: 8 });
  const pool = openPool(transport, options.pool);
  const worker_id = `${hostname()
    .replace(/[^a-zA-Z0-9-]/g, '-')
    .slice(0, 30)}-${process.pid}-${randomBytes(9).toString('base64url')}`;
  try {
    const declared = await pool.declare({ version, tools: declarations });
    const worker = new PoolWorker(pool, {
      worker_id,
      version,
      concurrency,
      drain_ms,
      tools: new Map(tools.map((one) => [`app:${options.pool}:${one.id}`, one])),
      declare: () => pool.declare({ version, tools: declarations }),
      onError: options.onError ?? ((error) => console.error(`capstan: ${error.message}`)),
    });
    worker.start();
    let stopped: Promise<void> | null = null;
    return {
      worker_id,
      version,
      tools: declared.tools,
      stop: () => {
        stopped ??= worker.stop().finally(() => transport.close());
        return stopped;
      },
    };
  } catch (error) {
    await transport.close();
    throw error;
  }
}

/** `serveTools.test(tool)` runs one in memory. */
export const serveTools = Object.assign(serve, { test: testTool });

const hashOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

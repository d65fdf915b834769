import { createHash, randomBytes } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import { hostname } from 'node:os';
import { type ConnectionOptions, findConnection } from '../find-connection.js';
import { openTransport } from '../transport.js';
import { openPool } from './pool.js';
import { PoolWorker, type PoolWorkerOptions } from './pool-worker.js';
import { testTool } from './test-tool.js';
import { type AnyTool, declare } from './tool.js';

export type ServeOptions = ConnectionOptions & {
  /** The tools get the ids `app:<pool>:<id>`. Every pool has its own queue. */
  pool: string;
  tools: readonly AnyTool[];
  /** How many calls run at once. */
  concurrency?: number;
  /** The version of these tools; by default a hash of their declarations. */
  version?: string;
  /** How long running calls may continue after `stop`. */
  drain_ms?: number;
  onError?: PoolWorkerOptions['onError'];
};

export type ToolWorker = {
  worker_id: string;
  version: string;
  tools: { tool_id: string; descriptor_hash: string }[];
  /** Takes no more calls and lets running ones finish. The rest return to the queue. */
  stop(): Promise<void>;
};

/** For `capstan dev`: it and the file that it loads may each have their own copy of this package. */
const SERVING = 'capstan.serving';
const CONCURRENCY = 10;
const DRAIN_MS = 30_000;

/** Serves tools in this process until it is stopped. Resolves once their declarations are accepted. */
function serve(options: ServeOptions): Promise<ToolWorker> {
  const starting = start(options);
  channel(SERVING).publish(starting);
  return starting;
}

async function start(options: ServeOptions): Promise<ToolWorker> {
  const { tools, concurrency = CONCURRENCY, drain_ms = DRAIN_MS } = options;
  const declarations = tools.map(declare);
  const version = options.version ?? hashOf(declarations);
  const { url, key } = findConnection(options);
  const transport = openTransport({ url, key: key?.key, connections: 8 });
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

/** `serveTools.test(tool)` runs a tool in memory. */
export const serveTools = Object.assign(serve, { test: testTool });

const hashOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

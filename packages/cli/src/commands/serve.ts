import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { existsSync } from 'node:fs';
import { register } from 'node:module';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyTool, ToolWorker } from '@capstan/client';
import type { Connection } from '@capstan/client/connection';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT } from '../exit-code.js';
import { integer } from '../parse/integer.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

export type ServeOptions = { pool?: string; concurrency?: number };

export const addServe: AddCommand = (program, cli) => {
  program
    .command('serve')
    .description('serve the tools of a TypeScript or JavaScript file')
    .argument('<file>', 'TypeScript or JavaScript file that exports tools made with tool(), or calls serveTools()')
    .option('-p, --pool <name>', 'pool of the tools; by default the `pool` that the file exports, else `dev`')
    .option('-c, --concurrency <n>', 'how many calls to run at once', integer(1, 1000))
    .action((file: string, options: ServeOptions, command: Command) =>
      cli.run(command, async (session) => {
        const path = resolve(session.cwd, file);
        if (!existsSync(path)) throw noSuchFile(file);
        const { exported, workers } = await load(path, session.connection());
        if (workers.length === 0) workers.push(await serveExports(session, path, exported, options));
        else if (options.pool !== undefined || options.concurrency !== undefined)
          throw await stopped(workers, `${path} calls serveTools itself`, 'Say pool and concurrency there.');
        const ids = workers.flatMap(({ tools }) => tools.map(({ tool_id }) => tool_id));
        await session.err.write(`Serving ${ids.join(', ')}\n`);
        await new Promise<void>((resolve) => {
          for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve());
        });
        await Promise.all(workers.map((worker) => worker.stop()));
        return EXIT.success;
      }),
    );
};

export const noSuchFile = (file: string): UsageError =>
  new UsageError(`cannot read ${file}: no such file`, 'Run `capstan init` to create a project with one.');

type Exported = Record<string, unknown>;

/** Loads a file. If it calls `serveTools` itself, the workers are those that it starts while it is loaded. */
async function load(path: string, { url, key }: Connection): Promise<{ exported: Exported; workers: ToolWorker[] }> {
  const starting: Promise<ToolWorker>[] = [];
  const hear = (worker: unknown) => void starting.push(worker as Promise<ToolWorker>);
  // Its own `serveTools` finds the gateway and key of this command.
  process.env.CAPSTAN_URL = url;
  if (key) process.env.CAPSTAN_API_KEY = key.key;
  subscribe('capstan.serving', hear);
  try {
    if (/\.[cm]?tsx?$/.test(path)) {
      (await import('tsx/esm/api')).register();
      register('./module-hooks.js', import.meta.url);
    }
    const exported: Exported = await import(pathToFileURL(path).href);
    return { exported, workers: await Promise.all(starting) };
  } catch (error) {
    // An error with a problem is the gateway's answer to `serveTools`.
    throw error instanceof Error && !('problem' in error) ? cannotLoad(path, error) : error;
  } finally {
    unsubscribe('capstan.serving', hear);
  }
}

/** With the line of the user's code that threw it, and the package that is missing, if one is. */
function cannotLoad(path: string, { message, stack = '' }: Error): UsageError {
  const [, name] = /^Cannot find package '([^']+)'/.exec(message) ?? [];
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line) && !line.includes('/node_modules/'));
  const [, place] = frames.map((line) => /((?:\/[^():]+)+:\d+:\d+)\)?$/.exec(line)).find(isUnder(dirname(path))) ?? [];
  const suggestion = name === undefined ? place && `It is thrown at ${place}.` : `Run \`npm install ${name}\`.`;
  return new UsageError(`cannot load ${path}: ${message}`, suggestion ?? null);
}

const isUnder =
  (folder: string) =>
  (found: RegExpExecArray | null): boolean =>
    found?.[1]?.startsWith(`${folder}/`) ?? false;

/** Serves all tools that a file exports, by themselves or in arrays. */
async function serveExports(session: Session, path: string, exported: Exported, options: ServeOptions) {
  const tools = [...new Set(Object.values(exported).flat().filter(isTool))];
  if (tools.length === 0)
    throw new UsageError(
      `${path} exports no tools and serves none`,
      'Export tools made with tool({ id, description, input, run }), or call serveTools.',
    );
  const { serveTools } = await import('@capstan/client');
  const { url, key } = session.connection();
  return serveTools({
    url,
    key: key?.key,
    pool: options.pool ?? (typeof exported.pool === 'string' ? exported.pool : 'dev'),
    tools,
    ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
    onError: (error) => void session.err.write(`${error.message}\n`),
  });
}

async function stopped(workers: readonly ToolWorker[], problem: string, suggestion: string): Promise<UsageError> {
  await Promise.all(workers.map((worker) => worker.stop()));
  return new UsageError(problem, suggestion);
}

const isTool = (value: unknown): value is AnyTool =>
  typeof value === 'object' && value !== null && 'id' in value && 'input' in value && 'run' in value;

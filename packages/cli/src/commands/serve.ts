import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyTool } from '@capstan/client';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT } from '../exit-code.js';
import { integer } from '../parse/integer.js';
import { UsageError } from '../usage-error.js';

export type ServeOptions = { pool?: string; concurrency?: number };

export const addServe: AddCommand = (program, cli) => {
  program
    .command('serve')
    .description('serve the tools of a TypeScript or JavaScript file')
    .argument('<file>', 'exports tools made with tool()')
    .option('-p, --pool <name>', 'the pool; by default what the file exports as `pool`, else `dev`')
    .option('-c, --concurrency <n>', 'how many calls run at once', integer(1, 1000))
    .action((file: string, options: ServeOptions, command: Command) =>
      cli.run(command, async (session) => {
        const { serveTools } = await import('@capstan/client');
        const { tools, pool } = await loadTools(resolve(session.cwd, file));
        const served = options.pool ?? pool ?? 'dev';
        const { url, key } = session.connection();
        const worker = await serveTools({
          url,
          key: key?.key,
          pool: served,
          tools,
          ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
          onError: (error) => void session.err.write(`${error.message}\n`),
        });
        await session.err.write(`Serving ${worker.tools.map(({ tool_id }) => tool_id).join(', ')}\n`);
        await new Promise<void>((resolve) => {
          for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve());
        });
        await worker.stop();
        return EXIT.success;
      }),
    );
};

/** Everything that a file exports and that is a tool, alone or in a list. */
async function loadTools(path: string): Promise<{ tools: AnyTool[]; pool: string | undefined }> {
  if (/\.[cm]?tsx?$/.test(path)) (await import('tsx/esm/api')).register();
  const exported: Record<string, unknown> = await import(pathToFileURL(path).href);
  const tools = Object.values(exported).flat().filter(isTool);
  if (tools.length === 0)
    throw new UsageError(`${path} exports no tools`, 'Export what tool({ id, description, input, run }) gives.');
  return { tools: [...new Set(tools)], pool: typeof exported.pool === 'string' ? exported.pool : undefined };
}

const isTool = (value: unknown): value is AnyTool =>
  typeof value === 'object' && value !== null && 'id' in value && 'input' in value && 'run' in value;

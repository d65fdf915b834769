import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { UsageError } from '../usage-error.js';
import type { ServeOptions } from './serve.js';

const SETTLE_MS = 150;
const WATCHED = /\.(?:[cm]?[jt]sx?|json|ya?ml)$/;

export const addDev: AddCommand = (program, cli) => {
  program
    .command('dev')
    .description("start everything, and serve a file's tools, again whenever it changes")
    .argument('<file>', 'exports tools made with tool()')
    .option('-p, --pool <name>', 'the pool; by default what the file exports as `pool`, else `dev`')
    .action((file: string, options: ServeOptions, command: Command) =>
      cli.serve(command, async () => {
        const path = resolve(file);
        if (!existsSync(path)) throw new UsageError(`there is no file ${file}`, 'capstan init makes one.');
        const { runStandalone } = await import('@capstan/standalone');
        let served: { stop(): Promise<void> } | null = null;
        await runStandalone(async ({ url, key }) => {
          served = await serveAgain(path, options, { CAPSTAN_URL: url, CAPSTAN_API_KEY: key });
        }).finally(() => served?.stop());
      }),
    );
};

/** A process for the tools, ended and started anew when a file beside them changes: modules cannot be loaded twice. */
async function serveAgain(path: string, { pool }: ServeOptions, env: Record<string, string>) {
  const folder = dirname(path);
  let child: ChildProcess | null = null;
  let stopped = false;
  let turn: Promise<void> = Promise.resolve();
  const end = async () => {
    const one = child;
    child = null;
    if (!one || one.exitCode !== null || one.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => one.once('exit', () => resolve()));
    one.kill('SIGTERM');
    await gone;
  };
  const start = async () => {
    await end();
    if (stopped) return;
    await putPolicy(folder, env).catch((error: unknown) => console.error(`policy.yaml: ${String(error)}`));
    const args = [process.argv[1] ?? '', 'serve', path, ...(pool === undefined ? [] : ['--pool', pool])];
    child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: 'inherit' });
  };
  const again = () => {
    turn = turn.then(start);
    return turn;
  };
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(folder, { recursive: true }, (_, name) => {
    if (name === null || /(?:^|[\\/])(?:node_modules|\.capstan|\.git)(?:[\\/]|$)/.test(name) || !WATCHED.test(name))
      return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      console.error(`${name} has changed`);
      void again();
    }, SETTLE_MS);
  });
  await again();
  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      watcher.close();
      await turn;
      await end();
    },
  };
}

/** The policy beside the tools is the one of the tenant `default` while they are developed. */
async function putPolicy(folder: string, env: Record<string, string>): Promise<void> {
  const text = await readFile(join(folder, 'policy.yaml'), 'utf8').catch(() => null);
  if (text === null) return;
  const answer = await fetch(`${env.CAPSTAN_URL}/v1/policies/default`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${env.CAPSTAN_API_KEY}`, 'content-type': 'application/yaml' },
    body: text,
  });
  if (!answer.ok) throw new Error(await answer.text());
}

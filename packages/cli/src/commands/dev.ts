import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { describeMistakes } from '../format/mistakes.js';
import { watchFolder } from '../watch-folder.js';
import { noSuchFile, type ServeOptions } from './serve.js';

const SETTLE_MS = 150;
const NOTICE_MS = 1000;
const WATCHED = /\.(?:[cm]?[jt]sx?|json|ya?ml)$/;

export const addDev: AddCommand = (program, cli) => {
  program
    .command('dev')
    .description('start everything and serve the tools in a file, with reload')
    .argument('<file>', 'TypeScript or JavaScript file that exports tools made with tool(), or calls serveTools()')
    .option('-p, --pool <name>', 'pool of the tools; by default the `pool` that the file exports, else `dev`')
    .action((file: string, options: ServeOptions, command: Command) =>
      cli.serve(command, async () => {
        const path = resolve(file);
        if (!existsSync(path)) throw noSuchFile(file);
        const { runStandalone } = await import('@capstan/standalone');
        await runStandalone(({ url, key }) =>
          serveWithReload(path, options, { CAPSTAN_URL: url, CAPSTAN_API_KEY: key }),
        );
      }),
    );
};

type Gateway = { CAPSTAN_URL: string; CAPSTAN_API_KEY: string };

/**
 * Serves the tools in a child process that restarts when a file beside them changes: Node.js cannot reload modules. Resolves with the
 * function that stops it.
 */
async function serveWithReload(path: string, { pool }: ServeOptions, env: Gateway): Promise<() => Promise<void>> {
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
    const notice = setTimeout(() => console.error('Waiting for running calls to end, for up to 30 s'), NOTICE_MS);
    await gone;
    clearTimeout(notice);
  };
  const start = async () => {
    await end();
    if (stopped) return;
    await putPolicy(folder, env.CAPSTAN_URL, env.CAPSTAN_API_KEY);
    const args = [process.argv[1] ?? '', 'serve', path, ...(pool === undefined ? [] : ['--pool', pool])];
    child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: 'inherit' });
  };
  const again = () => {
    turn = turn.then(start);
    return turn;
  };
  let timer: NodeJS.Timeout | undefined;
  const watching = new AbortController();
  watchFolder(folder, watching.signal, (changed) => {
    if (!WATCHED.test(changed)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      console.error(`${relative(folder, changed)} changed, reloading`);
      void again();
    }, SETTLE_MS);
  });
  await again();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    watching.abort();
    await turn;
    await end();
  };
}

/** Puts the policy.yaml beside the tools as the policy of the tenant `default`. If it is refused, the one before stays in force. */
async function putPolicy(folder: string, url: string, key: string): Promise<void> {
  const text = await readFile(join(folder, 'policy.yaml'), 'utf8').catch(() => null);
  if (text === null) return;
  const { CapstanError, createClient } = await import('@capstan/client');
  const client = createClient({ url, key });
  try {
    await client.policies.put('default', text);
  } catch (error) {
    const why = error instanceof CapstanError ? describeMistakes(error).headline : String(error);
    console.error(`policy.yaml was refused: ${why}`);
  } finally {
    await client.close();
  }
}

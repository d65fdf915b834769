import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { visibleJson } from '@capstan/contracts/visible-text';
import { type Command, Option } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { resolveRun } from '../resolve-id.js';
import type { Session } from '../session.js';

type Options = { format?: 'text' | 'json' | 'html'; output?: string; open?: boolean; bundle?: string };

export const addReport: AddCommand = (program, cli) => {
  program
    .command('report')
    .description('what a run did, step by step, with the verdict on its record')
    .argument('<run>', 'run_… or inv_…')
    .addOption(new Option('--format <format>', 'text by default').choices(['text', 'json', 'html']))
    .option('-o, --output <file>', 'write it there')
    .option('--open', 'show the page in a browser')
    .option('--bundle <file>', 'write everything that verifying and replaying it needs there instead')
    .action((id: string, options: Options, command: Command) =>
      cli.run(command, async (session) =>
        report(session, (await resolveRun(session, id)).replace(/^inv_/, 'run_'), options),
      ),
    );
};

const report = async (
  session: Session,
  run_id: string,
  { format, output, open, bundle }: Options,
): Promise<ExitCode> => {
  const { records } = await session.client();
  const told = (file: string) => session.err.line(session.err.colors.dim(`wrote ${file}`));
  if (bundle !== undefined) {
    await pipeline(
      await records.bundle(run_id, { signal: session.signal }),
      createWriteStream(resolve(session.cwd, bundle)),
    );
    await told(bundle);
    return EXIT.success;
  }
  const as = format ?? (open ? 'html' : session.json ? 'json' : 'text');
  const { signal } = session;
  const text =
    as === 'json'
      ? `${visibleJson(await records.report(run_id, { signal }), 2)}\n`
      : await records.reportText(run_id, as, { signal });
  const file =
    output !== undefined
      ? resolve(session.cwd, output)
      : open
        ? join(await mkdtemp(join(tmpdir(), 'capstan-')), `${run_id}.html`)
        : null;
  if (file === null) await session.out.write(text);
  else {
    await writeFile(file, text);
    await told(file);
    if (open && !(await show(file)))
      await session.err.line(session.err.colors.yellow('No browser could be started here; open that file in one.'));
  }
  return EXIT.success;
};

const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer' };
const OPENER_MS = 2000;

/** True when something took the file. An opener that has not failed after a moment has a browser up. */
const show = (file: string): Promise<boolean> =>
  new Promise((done) => {
    const child = spawn(OPENERS[process.platform] ?? 'xdg-open', [file], { stdio: 'ignore', detached: true });
    child.once('error', () => done(false));
    child.once('exit', (code) => done(code === 0 || process.platform === 'win32'));
    setTimeout(() => done(true), OPENER_MS).unref();
    child.unref();
  });

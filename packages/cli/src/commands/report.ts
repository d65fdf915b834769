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
import { widthOf, wrapProse } from '../format/width.js';
import type { Output } from '../output.js';
import { resolveRun } from '../resolve-id.js';
import type { Session } from '../session.js';

type Options = { format?: 'text' | 'json' | 'html'; output?: string; open?: boolean; bundle?: string };

export const addReport: AddCommand = (program, cli) => {
  program
    .command('report')
    .description('report what a run did, and whether its record is intact')
    .argument('<run>', 'run_… or inv_…')
    .addOption(new Option('--format <format>', 'output format; by default text').choices(['text', 'json', 'html']))
    .option('-o, --output <file>', 'write to this file')
    .option('--open', 'open the report in a browser')
    .option('--bundle <file>', 'write a bundle instead: all that is needed to verify and replay the run')
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
  const sayWritten = (file: string) => session.err.line(session.err.colors.dim(`wrote ${file}`));
  if (bundle !== undefined) {
    await pipeline(
      await records.bundle(run_id, { signal: session.signal }),
      createWriteStream(resolve(session.cwd, bundle)),
    );
    await sayWritten(bundle);
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
  if (file === null) await session.out.write(as === 'text' ? onScreen(text, session.out) : text);
  else {
    await writeFile(file, text);
    await sayWritten(file);
    if (open && !(await show(file)))
      await session.err.line(session.err.colors.yellow('No browser could be started. Open the file yourself.'));
  }
  return EXIT.success;
};

/** Long lines continue below their start. */
const onScreen = (text: string, out: Output): string =>
  text
    .split('\n')
    .map((line) => {
      if (!out.tty || widthOf(line) <= out.columns) return line;
      const indent = line.length - line.trimStart().length;
      return ' '.repeat(indent) + wrapProse(line.trimStart(), indent + 2, out);
    })
    .join('\n');

const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer' };
const OPENER_MS = 2000;

/** True if the file was opened. An opener still running after a moment has started a browser. */
const show = (file: string): Promise<boolean> =>
  new Promise((done) => {
    const child = spawn(OPENERS[process.platform] ?? 'xdg-open', [file], { stdio: 'ignore', detached: true });
    child.once('error', () => done(false));
    child.once('exit', (code) => done(code === 0 || process.platform === 'win32'));
    setTimeout(() => done(true), OPENER_MS).unref();
    child.unref();
  });

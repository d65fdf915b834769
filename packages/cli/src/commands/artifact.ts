import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Artifact } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatCount } from '../format/count.js';
import { printTable } from '../print-items.js';
import { resolveId } from '../resolve-id.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

export const addArtifacts: AddCommand = (program, cli) => {
  program
    .command('artifacts')
    .description('list the artifacts of an invocation')
    .argument('<invocation>', 'invocation id (inv_…)')
    .action((id: string, _options: object, command: Command) =>
      cli.run(command, async (session) => list(session, await resolveId(session, id))),
    );
};

export const addArtifact: AddCommand = (program, cli) => {
  program
    .command('artifact')
    .description('download an artifact of an invocation')
    .command('get')
    .description('write an artifact to a file or a pipe; its hash is verified')
    .argument('<sha256>', 'hash of the artifact, from `capstan artifacts`')
    .option('-o, --output <file>', 'write to this file')
    .action((sha256: string, { output }: { output?: string }, command: Command) =>
      cli.run(command, (session) => get(session, sha256, output)),
    );
};

const list = async (session: Session, invocation_id: string): Promise<ExitCode> => {
  const client = await session.client();
  const { result } = await client.get(invocation_id);
  const items = result?.artifacts ?? [];
  if (session.json) await session.printJson({ items, next_cursor: null });
  else
    await printTable<Artifact>(session, items, {
      empty: result === null ? 'The invocation has not ended yet.' : 'The invocation has no artifacts.',
      columns: [
        { title: 'NAME', text: ({ name }) => name, shrinks: true },
        { title: 'TYPE', text: ({ media_type }) => media_type },
        { title: 'BYTES', text: ({ size }) => formatCount(size), align: 'right' },
        { title: 'SHA256', text: ({ sha256 }) => sha256, paint: (text) => session.out.colors.dim(text) },
      ],
    });
  return EXIT.success;
};

const get = async (session: Session, sha256: string, output: string | undefined): Promise<ExitCode> => {
  if (output === undefined && session.out.tty)
    throw new UsageError('will not write an artifact to a terminal', 'Name a file with -o, or pipe the output.');
  const client = await session.client();
  const content = await client.artifacts.read(sha256, { signal: session.signal });
  if (output === undefined) for await (const chunk of content) await session.out.bytes(chunk);
  else {
    await writeWhole(content, resolve(session.cwd, output));
    await session.err.line(session.err.colors.dim(`wrote ${output}`));
  }
  return EXIT.success;
};

/** Writes to a `.part` file first, so that `file` only ever exists whole and verified. */
const writeWhole = async (content: NodeJS.ReadableStream, file: string): Promise<void> => {
  const partial = `${file}.part`;
  try {
    await pipeline(content, createWriteStream(partial));
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
};

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { readStdin } from './read-stdin.js';
import type { Session } from './session.js';
import { UsageError } from './usage-error.js';

/** A document from a file, or - for stdin, as the text that a person wrote: the gateway then says where a mistake stands. */
export const readDocumentFile = async (session: Session, file: string): Promise<string> =>
  file === '-' ? readStdin(session) : read(session, file);

const read = (session: Session, file: string): Promise<string> =>
  readFile(resolve(session.cwd, file), 'utf8').catch((error: unknown) => {
    throw new UsageError(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);
  });

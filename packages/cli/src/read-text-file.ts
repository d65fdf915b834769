import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { cannotRead } from './cannot-read.js';
import { readStdin } from './read-stdin.js';
import type { Session } from './session.js';

/**
 * The text of a file, or of stdin for `-`. Plans and policies are sent as this text rather than parsed here, so that the
 * gateway can name the line of a mistake.
 */
export const readTextFile = async (session: Session, file: string): Promise<string> => {
  if (file === '-') return readStdin(session);
  try {
    return await readFile(resolve(session.cwd, file), 'utf8');
  } catch (error) {
    throw cannotRead(file, error);
  }
};

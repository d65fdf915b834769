import type { Json } from '@capstan/contracts';
import { type BuiltinTool, invalidInputs, NO_SESSION, toolError } from './builtin-tool.js';

const MAX_SECTION = 200;

export const writeScratchpad: BuiltinTool = async ({ section, content, mode = 'replace' }, { session }) => {
  if (!session) return NO_SESSION;
  if (!isSection(section)) return invalidInputs(`section must be a heading of at most ${MAX_SECTION} characters`);
  if (typeof content !== 'string') return invalidInputs('content must be text');
  if (mode !== 'replace' && mode !== 'append') return invalidInputs('mode must be replace or append');
  const written = await session.notes.write(section, content, mode);
  return written.kind === 'full'
    ? toolError(`the scratchpad is full: a ${written.limit} holds ${written.max} bytes; clear what is no longer needed`)
    : { success: true, payload: { section, size_bytes: written.size_bytes } };
};

export const readScratchpad: BuiltinTool = async ({ section }, { session }) => {
  if (!session) return NO_SESSION;
  if (section !== undefined && !isSection(section)) return invalidInputs('section must be a heading');
  const notes = await session.notes.read(section ?? null);
  return { success: true, payload: { sections: notes, count: notes.length } };
};

export const clearScratchpad: BuiltinTool = async ({ section }, { session }) => {
  if (!session) return NO_SESSION;
  if (section !== undefined && !isSection(section)) return invalidInputs('section must be a heading');
  return { success: true, payload: { cleared: await session.notes.clear(section ?? null) } };
};

/** A heading is a text in Postgres, which cannot contain NUL or lone surrogates. */
const isSection = (value: Json | undefined): value is string =>
  typeof value === 'string' &&
  value.length > 0 &&
  value.length <= MAX_SECTION &&
  value.isWellFormed() &&
  !value.includes('\u0000');

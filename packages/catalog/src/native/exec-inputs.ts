import type { Binding, JsonObject } from '@capstan/contracts';

/** The standard input of a program. */
export const STDIN: JsonObject = { type: 'string', description: 'Standard input; secret://name for a secret' };
export const TTY: JsonObject = {
  type: 'boolean',
  description: 'Run in a terminal: one stream, with its control characters',
};

/** Additional inputs of an ATIP command that asks questions, unless its own parameters have these names. */
export const DIALOGUE: Extract<Binding, { kind: 'atip' }>['parameters'] = [
  { name: 'tty', type: 'boolean', variadic: false, flags: [] },
  { name: 'stdin', type: 'string', variadic: false, flags: [] },
];

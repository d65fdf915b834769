import type { Binding, JsonObject } from '@capstan/contracts';

/** What a program reads from its standard input. */
export const STDIN: JsonObject = { type: 'string', description: 'What it reads; secret://name for a secret' };
export const TTY: JsonObject = {
  type: 'boolean',
  description: 'Run in a terminal: one stream, with its control characters',
};

/** What a command of ATIP's that asks questions takes beside its parameters, unless they have these names. */
export const DIALOGUE: Extract<Binding, { kind: 'atip' }>['parameters'] = [
  { name: 'tty', type: 'boolean', variadic: false, flags: [] },
  { name: 'stdin', type: 'string', variadic: false, flags: [] },
];

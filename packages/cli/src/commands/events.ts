import type { TenantEvent, TenantEventType } from '@capstan/contracts';
import { visibleJson, visibleLine } from '@capstan/contracts/visible-text';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { choices } from '../parse/choice.js';
import type { Session } from '../session.js';

const TYPES: Record<TenantEventType, true> = {
  invocation: true,
  run: true,
  hold: true,
  queue: true,
  worker: true,
  policy: true,
  tool: true,
};

export const addEvents: AddCommand = (program, cli) => {
  program
    .command('events')
    .description('follow all changes in the tenant until Ctrl-C')
    .option('--types <types>', `only these: ${Object.keys(TYPES).join(', ')}`, choices(TYPES))
    .action(({ types }: { types?: TenantEventType[] }, command: Command) =>
      cli.run(command, (session) => printEvents(session, types)),
    );
};

/** Ctrl-C is the normal way to end this command, so it exits with 0. */
const printEvents = async (session: Session, types: TenantEventType[] | undefined): Promise<ExitCode> => {
  const client = await session.client();
  const { signal, err, out } = session;
  if (out.tty && err.tty) await err.line(err.colors.dim('Waiting for changes · Ctrl-C to leave'));
  try {
    for await (const event of client.changes({ types, signal })) await session.out.line(format(session, event));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return EXIT.success;
};

const format = ({ json, out: { colors } }: Session, event: TenantEvent): string => {
  if (json) return visibleJson(event);
  const { type, id, status, at } = event;
  return `${colors.dim(at.slice(11, 19))}  ${type.padEnd(10)}  ${visibleLine(id ?? 'many')}${status ? `  ${status}` : ''}`;
};

import type { ActiveLogin } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { relativeTime } from '../format/relative-time.js';
import { printItems } from '../print-items.js';
import { removeEach } from '../remove-each.js';
import type { Session } from '../session.js';

export const addLogins: AddCommand = (program, cli) => {
  const logins = program
    .command('logins')
    .description('list and end logins to the console')
    .action((_options: object, command: Command) => cli.run(command, printLogins));
  logins
    .command('list')
    .description('list your logins, or as an admin those of everyone')
    .action((_options: object, command: Command) => cli.run(command, printLogins));
  logins
    .command('end')
    .description('end logins immediately')
    .argument('<login...>', 'login ids')
    .action((ids: string[], _options: object, command: Command) =>
      cli.run(command, (session) => endLogins(session, ids)),
    );
};

const printLogins = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  await printItems<ActiveLogin>(session, client.logins.list(), {
    empty: 'Nobody is logged in to the console.',
    columns: [
      { title: 'LOGIN', text: ({ login_id }) => login_id },
      { title: 'TENANT', text: ({ tenant }) => tenant },
      { title: 'ACTOR', text: ({ actor }) => actor, shrinks: true },
      { title: 'BY', text: ({ key_id, identity }) => key_id ?? identity?.iss ?? '' },
      { title: 'SINCE', text: ({ created_at }) => relativeTime(created_at, session.now()) },
      { title: 'UNTIL', text: ({ expires_at }) => relativeTime(expires_at, session.now()) },
    ],
  });
  return EXIT.success;
};

const endLogins = async (session: Session, ids: readonly string[]): Promise<ExitCode> => {
  const client = await session.client();
  return removeEach(session, ids, { field: 'login_id', done: 'ended', remove: (id) => client.logins.end(id) });
};

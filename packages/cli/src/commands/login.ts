import { findProfile, type Profile, readProfiles } from '@capstan/client/connection';
import type { Command } from 'commander';
import { type AddCommand, globalOptions } from '../cli.js';
import { checkUrl } from '../connection.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { printDone } from '../print-done.js';
import { printTable } from '../print-items.js';
import { readSecret } from '../profile/read-secret.js';
import { checkProfileName, writeProfiles } from '../profile/write-profiles.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

const DEFAULT_PROFILE = 'default';

const nameOf = (command: Command, session: Session): string | undefined =>
  globalOptions(command).profile ?? (session.env.CAPSTAN_PROFILE || undefined);

export const addLogin: AddCommand = (program, cli) => {
  program
    .command('login')
    .description('save the URL and key of a gateway as a profile and switch to it')
    .argument('[url]', 'gateway URL; by default the current one')
    .addHelpText(
      'after',
      `
The key is prompted for, read from a pipe, or passed with --key.

Examples:
  $ capstan login https://capstan.example.com
  $ capstan login https://staging.example.com --profile staging
  $ capstan runs --profile staging`,
    )
    .action((url: string | undefined, _options: object, command: Command) =>
      cli.run(command, (session) => login(session, command, url)),
    );
};

const login = async (session: Session, command: Command, given: string | undefined): Promise<ExitCode> => {
  const { env, out } = session;
  const name = checkProfileName(nameOf(command, session) ?? DEFAULT_PROFILE);
  const options = globalOptions(command);
  const known = readProfiles(env);
  const url = checkUrl(given ?? options.url ?? known.profiles[name]?.url ?? session.connection().url);
  const key = (options.key ?? (await readSecret(session, `Key for ${url}: `))).trim();
  if (key === '') throw new UsageError('no key given', 'Type it at the prompt, pipe it in, or pass --key.');
  const { createClient, Unauthorized } = await import('@capstan/client');
  const client = createClient({ url, key });
  try {
    const me = await client.whoami().catch((error: unknown) => {
      if (!(error instanceof Unauthorized)) throw error;
      throw new UsageError(
        `${url} does not accept this key`,
        'Ask an admin for a key: capstan keys create --actor <name> --role submit',
      );
    });
    const file = writeProfiles(env, { current: name, profiles: { ...known.profiles, [name]: { url, key } } });
    await printDone(
      session,
      { profile: name, url, actor: me.actor, tenant: me.tenant, file },
      `${name}: ${me.actor} of ${me.tenant} (${me.roles.join(', ')}) at ${url}\n  ${out.colors.dim(`saved in ${file}`)}`,
    );
    return EXIT.success;
  } finally {
    await client.close();
  }
};

export const addLogout: AddCommand = (program, cli) => {
  program
    .command('logout')
    .summary('delete a profile and its saved key')
    .description('delete a profile and its saved key; `capstan keys delete` revokes the key itself')
    .argument('[name]', 'profile name; by default the current one')
    .action((given: string | undefined, _options: object, command: Command) =>
      cli.run(command, async (session) => {
        const { current, profiles } = readProfiles(session.env);
        const { profile } = globalOptions(command);
        if (given !== undefined && profile !== undefined && given !== profile)
          throw new UsageError(`${given} and --profile ${profile} are two profiles`, 'Give one of them.');
        const name = given ?? nameOf(command, session) ?? current;
        if (name === null) throw new UsageError('not logged in', 'Run `capstan profiles` to list profiles.');
        findProfile(session.env, name);
        const { [name]: _deleted, ...rest } = profiles;
        writeProfiles(session.env, { current: current === name ? null : current, profiles: rest });
        await printDone(session, { profile: name }, `${name} deleted`);
        return EXIT.success;
      }),
    );
};

export const addProfiles: AddCommand = (program, cli) => {
  const profiles = program
    .command('profiles')
    .description('list the gateways you are logged in to, or switch to another')
    .action((_options: object, command: Command) => cli.run(command, printProfiles));
  profiles
    .command('use')
    .description('make a profile the default, unless an option, the environment or the folder sets a gateway')
    .argument('<name>', 'profile name')
    .action((name: string, _options: object, command: Command) =>
      cli.run(command, async (session) => {
        findProfile(session.env, name);
        writeProfiles(session.env, { ...readProfiles(session.env), current: name });
        return printProfiles(session);
      }),
    );
};

/** Keys are never printed. */
const printProfiles = async (session: Session): Promise<ExitCode> => {
  const { current, profiles } = readProfiles(session.env);
  const items = Object.entries(profiles).map(([name, { url }]) => ({ name, url, current: name === current }));
  if (session.json) await session.printJson({ items, next_cursor: null });
  else
    await printTable<Pick<Profile, 'url'> & { name: string; current: boolean }>(session, items, {
      empty: 'No profiles. Log in with `capstan login <url>`.',
      columns: [
        { title: '', text: (one) => (one.current ? '●' : ' ') },
        { title: 'PROFILE', text: ({ name }) => name },
        { title: 'GATEWAY', text: ({ url }) => url, shrinks: true },
      ],
    });
  return EXIT.success;
};

import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatTable } from '../format/table.js';
import type { Session } from '../session.js';
import { readSettingsFile } from '../settings-file.js';

export const addConfig: AddCommand = (program, cli) => {
  program
    .command('config')
    .description('show current settings and where they come from, without secrets')
    .option('--all', 'include settings that are unset or at their default')
    .action(({ all = false }: { all?: boolean }, command: Command) =>
      cli.run(command, (session) => printConfig(session, all)),
    );
};

/** Read by the command itself, not by services. */
const OF_COMMAND = ['CAPSTAN_CONFIG', 'CAPSTAN_PROFILE', 'CAPSTAN_URL'];

type Shown = { name: string; value: string; from: string; services: string[] };

const printConfig = async (session: Session, all: boolean): Promise<ExitCode> => {
  const { checkSettings, listSettings, showSetting } = await import('@capstan/standalone');
  const file = await readSettingsFile(session.env, session.cwd);
  const origin = (name: string): string | null => {
    const in_file = file?.values[name] || null;
    const in_env = session.env[name] || null;
    // At startup, settings from the file were copied into the environment.
    if (file && in_file !== null && (in_env === null || in_env === in_file)) return file.path;
    return in_env === null ? null : 'environment';
  };
  const value = (name: string): string | undefined => session.env[name] || file?.values[name] || undefined;
  const names = [...new Set([...Object.keys(session.env), ...Object.keys(file?.values ?? {})])];
  const settings = listSettings(names);
  const known = new Set([...OF_COMMAND, ...settings.map(({ name }) => name)]);
  const unknown = names.filter((name) => name.startsWith('CAPSTAN_') && !known.has(name));
  const shown = settings.flatMap(({ name, services, fallback }): Shown[] => {
    const from = origin(name);
    const set = value(name);
    if (from !== null && set !== undefined) return [{ name, value: showSetting(name, set), from, services }];
    return all ? [{ name, value: fallback ?? '', from: fallback === null ? 'not set' : 'default', services }] : [];
  });
  const mistakes = checkSettings({ ...file?.values, ...withoutEmpty(session.env) });
  if (session.json) await session.printJson({ file: file?.path ?? null, settings: shown, unknown, mistakes });
  else {
    const { colors } = session.out;
    if (shown.length === 0)
      await session.out.line('All settings have their defaults. `capstan config --all` lists them.');
    else
      for (const line of formatTable<Shown>(
        [
          { title: 'SETTING', text: ({ name }) => name },
          { title: 'VALUE', text: (one) => one.value, shrinks: true },
          { title: 'FROM', text: ({ from }) => from, paint: (text) => colors.dim(text), shrinks: true, tail: true },
        ],
        shown,
        { colors, columns: session.out.columns },
      ))
        await session.out.line(line);
    for (const name of unknown)
      await session.err.line(`${session.err.colors.yellow('warning')} ${name} is not a setting, so nothing reads it`);
    for (const mistake of mistakes) await session.err.line(`${session.err.colors.red('✗')} ${mistake}`);
  }
  return mistakes.length === 0 ? EXIT.success : EXIT.failed;
};

const withoutEmpty = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));

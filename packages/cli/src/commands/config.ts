import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatTable } from '../format/table.js';
import type { Session } from '../session.js';
import { readSettingsFile } from '../settings-file.js';

export const addConfig: AddCommand = (program, cli) => {
  program
    .command('config')
    .description('the settings in force, and where each comes from; secrets are hidden')
    .option('--all', 'also those that have their default, or none')
    .action(({ all = false }: { all?: boolean }, command: Command) =>
      cli.run(command, (session) => printConfig(session, all)),
    );
};

type Shown = { name: string; value: string; from: string; services: string[] };

const printConfig = async (session: Session, all: boolean): Promise<ExitCode> => {
  const { checkSettings, listSettings, showSetting } = await import('@capstan/standalone');
  const file = await readSettingsFile(session.env, session.cwd);
  const origin = (name: string): string | null => {
    const in_file = file?.values[name] || null;
    const in_env = session.env[name] || null;
    // What the file set is in the environment by now.
    if (file && in_file !== null && (in_env === null || in_env === in_file)) return file.path;
    return in_env === null ? null : 'environment';
  };
  const value = (name: string): string | undefined => session.env[name] || file?.values[name] || undefined;
  const settings = listSettings([...Object.keys(session.env), ...Object.keys(file?.values ?? {})]);
  const shown = settings.flatMap(({ name, services, fallback }): Shown[] => {
    const from = origin(name);
    const set = value(name);
    if (from !== null && set !== undefined) return [{ name, value: showSetting(name, set), from, services }];
    return all ? [{ name, value: fallback ?? '', from: fallback === null ? 'not set' : 'default', services }] : [];
  });
  const mistakes = checkSettings({ ...file?.values, ...withoutEmpty(session.env) });
  if (session.json) await session.printJson({ file: file?.path ?? null, settings: shown, mistakes });
  else {
    const { colors } = session.out;
    if (shown.length === 0) await session.out.line('Every setting has its default. `capstan config --all` lists them.');
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
    for (const mistake of mistakes) await session.err.line(`${session.err.colors.red('✗')} ${mistake}`);
  }
  return mistakes.length === 0 ? EXIT.success : EXIT.failed;
};

const withoutEmpty = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));

import { visibleJson } from '@capstan/contracts/visible-text';
import { Command, CommanderError } from 'commander';
import { type Cli, globalOptions } from './cli.js';
import { addCommands } from './commands/add-commands.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { formatCommandHelp, renderHelp } from './format/help.js';
import { wrapProse } from './format/width.js';
import type { Io } from './io.js';
import { nameMistakes } from './name-mistakes.js';
import { createOutput } from './output.js';
import { reportError } from './report-error.js';
import { openSession, type Session } from './session.js';
import { readVersion } from './version.js';

/** Runs one command line and returns its exit code. It uses only `io`, never the process itself. */
export const runCli = async (given: readonly string[], io: Io): Promise<ExitCode> => {
  // Commander's own help command knows only commands of the first level.
  const args = given[0] === 'help' && given.length > 1 ? [...given.slice(1), '--help'] : given;
  let exit: ExitCode = EXIT.success;
  const inSession = async (command: Command, body: (session: Session) => Promise<ExitCode>): Promise<void> => {
    const session = openSession(globalOptions(command), io);
    try {
      exit = await body(session);
    } catch (error) {
      // Any failure after Ctrl-C is a consequence of it.
      exit = session.signal.aborted ? EXIT.interrupted : await reportError(error, session);
    } finally {
      await session.close();
    }
  };
  const cli: Cli = {
    now: () => io.now(),
    run: inSession,
    program: () => buildProgram(cli, io, ['help']),
    async serve(command, start) {
      try {
        await start();
      } catch (error) {
        await inSession(command, (session) => reportError(error, session));
      }
    },
  };
  try {
    const program = await buildProgram(cli, io, args);
    if (args.length === 0) program.outputHelp();
    else {
      nameMistakes(program, args);
      await program.parseAsync([...args], { from: 'user' });
    }
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Commander has already printed the message. For help and version its exit code is 0.
    return error.exitCode === 0 ? EXIT.success : EXIT.usage;
  }
  return exit;
};

/** The program with the command that the arguments name; `['help']` loads all commands. */
export const buildProgram = async (cli: Cli, io: Io, args: readonly string[]): Promise<Command> => {
  const program = new Command('capstan');
  const as_json = args.includes('--json');
  program
    .description('Run tools for agents: under policy, in a sandbox, and on record.')
    .option('--url <url>', 'gateway URL (env: CAPSTAN_URL)')
    .option('--key <key>', 'API key (env: CAPSTAN_API_KEY)')
    .option('--profile <name>', 'saved login to use (env: CAPSTAN_PROFILE)')
    .option('--json', 'print JSON to stdout, errors as JSON to stderr')
    .option('--raw', 'do not escape control characters')
    .option('--no-color', 'disable colors (env: NO_COLOR)')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void createOutput(io.stdout, io.env).write(text),
      writeErr: (text) => void createOutput(io.stderr, io.env).write(text),
      outputError: (text, write) => {
        const err = createOutput(io.stderr, io.env);
        const said = text
          .trimEnd()
          .replace(/^error: /, '')
          .replace(/^command-argument value ('.*?') is invalid for argument '(\w+)'\./s, '$1 is no $2.');
        write(
          as_json
            ? `${visibleJson({ detail: said, suggestion: 'Run the command with --help for usage.' })}\n`
            : `${err.colors.red('✗')} ${wrapProse(said, 2, err)}\n`,
        );
      },
      getOutHelpWidth: () => io.stdout.columns ?? 80,
      getOutHasColors: () => createOutput(io.stdout, io.env).colors.isColorSupported,
      getErrHasColors: () => createOutput(io.stderr, io.env).colors.isColorSupported,
    })
    .configureHelp({
      showGlobalOptions: true,
      formatHelp: formatCommandHelp,
      styleTitle: (text) => createOutput(io.stdout, io.env).colors.bold(text),
    });
  await addCommands(program, cli, args);
  if (!as_json) hintAtHelp(program, 'capstan');
  program.helpInformation = () => renderHelp(program, createOutput(io.stdout, io.env));
  return program;
};

/** Usage errors point to the help of the command they were made in. */
const hintAtHelp = (command: Command, path: string): void => {
  command.showHelpAfterError(`  → Run \`${path} --help\` for usage.`);
  for (const sub of command.commands) hintAtHelp(sub, `${path} ${sub.name()}`);
};

import { Command, CommanderError } from 'commander';
import { type Cli, globalOptions } from './cli.js';
import { addCommands } from './commands/add-commands.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { renderHelp } from './format/help.js';
import type { Io } from './io.js';
import { createOutput } from './output.js';
import { reportError } from './report-error.js';
import { openSession, type Session } from './session.js';
import { readVersion } from './version.js';

/** The whole command: arguments in, exit code out. Nothing here touches the process itself. */
export const runCli = async (args: readonly string[], io: Io): Promise<ExitCode> => {
  let exit: ExitCode = EXIT.success;
  const inSession = async (command: Command, body: (session: Session) => Promise<ExitCode>): Promise<void> => {
    const session = openSession(globalOptions(command), io);
    try {
      exit = await body(session);
    } catch (error) {
      // Whatever fails after Ctrl-C fails because of it.
      exit = session.signal.aborted ? EXIT.interrupted : await reportError(error, session);
    } finally {
      await session.close();
    }
  };
  const cli: Cli = {
    now: () => io.now(),
    run: inSession,
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
    else await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Commander has said it already; help and version are no errors to it either.
    return error.exitCode === 0 ? EXIT.success : EXIT.usage;
  }
  return exit;
};

/** The command that the arguments name, or with `['help']` all of them. */
export const buildProgram = async (cli: Cli, io: Io, args: readonly string[]): Promise<Command> => {
  const program = new Command('capstan');
  program
    .description('Runs tools for agents: decided by policy, run in a sandbox, kept for replay.')
    .option('--url <url>', 'the gateway (CAPSTAN_URL; default http://127.0.0.1:7070)')
    .option('--key <key>', 'the API key (CAPSTAN_API_KEY; default .capstan/admin.key here or above)')
    .option('--json', 'machine output: JSON on stdout and nothing else')
    .option('--raw', 'print control characters as they are; without it they are made visible')
    .option('--no-color', 'no colours (also NO_COLOR; never any in a pipe)')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void createOutput(io.stdout, io.env).write(text),
      writeErr: (text) => void createOutput(io.stderr, io.env).write(text),
      outputError: (text, write) =>
        write(text.replace(/^error: /, `${createOutput(io.stderr, io.env).colors.red('✗')} `)),
      getOutHelpWidth: () => io.stdout.columns ?? 80,
      getOutHasColors: () => createOutput(io.stdout, io.env).colors.isColorSupported,
      getErrHasColors: () => createOutput(io.stderr, io.env).colors.isColorSupported,
    })
    .configureHelp({
      showGlobalOptions: true,
      styleTitle: (text) => createOutput(io.stdout, io.env).colors.bold(text),
    });
  await addCommands(program, cli, args);
  hintAtHelp(program, 'capstan');
  program.helpInformation = () => renderHelp(program, createOutput(io.stdout, io.env));
  return program;
};

/** A mistake is answered with the help of the very command it was made in. */
const hintAtHelp = (command: Command, path: string): void => {
  command.showHelpAfterError(`  → See \`${path} --help\`.`);
  for (const sub of command.commands) hintAtHelp(sub, `${path} ${sub.name()}`);
};

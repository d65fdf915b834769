import type { InvocationEvent } from '@capstan/contracts';
import { visibleJson } from '@capstan/contracts/visible-text';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatStatus } from '../format/status.js';
import { resolveId } from '../resolve-id.js';
import type { Session } from '../session.js';

/** Without -f, the output so far is complete once nothing has arrived for this long. */
const QUIET_MS = 500;

export const addLogs: AddCommand = (program, cli) => {
  program
    .command('logs')
    .description('print the output of an invocation')
    .argument('<id>', 'invocation id (inv_…)')
    .option('-f, --follow', 'follow until the invocation ends')
    .action((id: string, { follow = false }: { follow?: boolean }, command: Command) =>
      cli.run(command, async (session) =>
        printLogs(session, (await resolveId(session, id)).replace(/^run_/, 'inv_'), follow),
      ),
    );
};

const printLogs = async (session: Session, invocation_id: string, follow: boolean): Promise<ExitCode> => {
  const client = await session.client();
  const { isTerminal } = await import('@capstan/client');
  const { status } = await client.get(invocation_id, { signal: session.signal });
  const quiet = new AbortController();
  const snapshot = !follow && !isTerminal(status);
  let timer: NodeJS.Timeout | undefined;
  const expectMore = (): void => {
    clearTimeout(timer);
    if (snapshot) timer = setTimeout(() => quiet.abort(), QUIET_MS);
  };
  try {
    expectMore();
    const signal = AbortSignal.any([session.signal, quiet.signal]);
    for await (const event of client.events(invocation_id, { signal })) {
      expectMore();
      await printEvent(session, event, follow);
    }
  } catch (error) {
    if (session.signal.aborted || !quiet.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
  return EXIT.success;
};

const printEvent = async (session: Session, event: InvocationEvent, follow: boolean): Promise<void> => {
  if (session.json) return session.out.line(visibleJson(event));
  if (event.event === 'log') return session[event.data.stream === 'stdout' ? 'out' : 'err'].write(event.data.text);
  if (event.event === 'status' && follow) await session.err.line(formatStatus(event.data.status, session.err.colors));
};

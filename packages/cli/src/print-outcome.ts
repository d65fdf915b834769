import type { Invocation } from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';
import { type ExitCode, exitCodeOf } from './exit-code.js';
import { formatFailure } from './format/failure.js';
import { renderPayload } from './format/payload.js';
import type { Session } from './session.js';
import { suggestionOf } from './suggestion-of.js';

const SHOWN_FILES = 5;

/** What an invocation came to: its payload on stdout, and what a person should know on stderr. */
export const printOutcome = async (session: Session, invocation: Invocation): Promise<ExitCode> => {
  if (session.json) await session.printJson(invocation);
  else {
    await printPayload(session, invocation);
    await printFiles(session, invocation);
    await printTrouble(session, invocation);
  }
  return exitCodeOf(invocation.status);
};

type Answer = Pick<Invocation, 'status' | 'result'>;

export const printPayload = async ({ out, err }: Session, { status, result }: Answer): Promise<void> => {
  if (result === null || (result.payload === null && status !== 'succeeded')) return;
  const { stdout, stderr, raw } = renderPayload(result.payload);
  await out.write(stdout);
  if (raw && out.tty && stdout !== '' && !stdout.endsWith('\n')) await out.line();
  await err.write(stderr);
  if (stderr !== '' && !stderr.endsWith('\n')) await err.line();
  if (result.truncated) await err.line(err.colors.yellow('  the output was truncated'));
};

const printFiles = async ({ err }: Session, { invocation_id, result }: Invocation): Promise<void> => {
  const names = (result?.artifacts ?? []).map(({ name }) => visibleLine(name));
  if (names.length === 0) return;
  const shown = names.length > SHOWN_FILES ? [...names.slice(0, SHOWN_FILES), '…'] : names;
  await err.line(err.colors.dim(`  files: ${shown.join(', ')} (capstan artifacts ${invocation_id})`));
};

const printTrouble = async ({ err }: Session, invocation: Invocation): Promise<void> => {
  const { invocation_id, hold_id, status, decision, result } = invocation;
  const warn = (text: string, next: string): Promise<void> =>
    err.line(`${err.colors.yellow(text)}\n  ${err.colors.cyan('→')} ${next}`);
  switch (status) {
    case 'succeeded':
      return;
    case 'held':
      return warn(`⏸ held: ${visibleLine(decision.reason)}`, `It waits for a person: capstan holds ${hold_id}`);
    case 'queued':
    case 'running':
    case 'deferred':
      return warn(`◷ still ${status} when the wait was over`, `It goes on: capstan logs -f ${invocation_id}`);
    default: {
      const code = result?.code ?? null;
      const headline = result?.error ?? (status === 'denied' ? decision.reason : 'it has no result');
      const suggestion = code === null ? null : await suggestionOf(code);
      await err.line(
        formatFailure({ headline: `${status}: ${headline}`, code, suggestion, context: [invocation_id] }, err),
      );
    }
  }
};

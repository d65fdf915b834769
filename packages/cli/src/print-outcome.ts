import type { Invocation, InvocationDetail, Waiting } from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';
import { type ExitCode, exitCodeOf } from './exit-code.js';
import { formatFailure } from './format/failure.js';
import { renderPayload } from './format/payload.js';
import { wrapProse } from './format/width.js';
import type { Output } from './output.js';
import type { Session } from './session.js';
import { suggestionOf } from './suggestion-of.js';

const SHOWN_FILES = 5;

/** Why a call has not started, and what to do about it. */
export const formatWhy = (what: string, { detail, suggestion }: Waiting, out: Output): string =>
  formatAdvice(`◷ ${what}: ${visibleLine(detail)}`, visibleLine(suggestion), out);

const formatAdvice = (text: string, next: string, out: Output): string =>
  `${out.colors.yellow(wrapProse(text, 2, out))}\n  ${out.colors.cyan('→')} ${wrapProse(next, 4, out)}`;

/** Prints the payload of an invocation to stdout, and anything a person should know to stderr. */
export const printOutcome = async (session: Session, invocation: Invocation | InvocationDetail): Promise<ExitCode> => {
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
  if (result.truncated) await err.line(err.colors.yellow('  The output was truncated.'));
};

const printFiles = async ({ err }: Session, { invocation_id, result }: Invocation): Promise<void> => {
  const names = (result?.artifacts ?? []).map(({ name }) => visibleLine(name));
  if (names.length === 0) return;
  const shown = names.length > SHOWN_FILES ? [...names.slice(0, SHOWN_FILES), '…'] : names;
  await err.line(err.colors.dim(`  files: ${shown.join(', ')} (capstan artifacts ${invocation_id})`));
};

const printTrouble = async ({ err }: Session, invocation: Invocation | InvocationDetail): Promise<void> => {
  const { invocation_id, hold_id, status, decision, result } = invocation;
  const warn = (text: string, next: string): Promise<void> => err.line(formatAdvice(text, next, err));
  switch (status) {
    case 'succeeded':
      return;
    case 'held':
      return warn(
        `⏸ held: ${visibleLine(decision.reason)}`,
        `It waits for a person: \`capstan holds ${hold_id}\`, then release or reject it`,
      );
    case 'queued':
    case 'running':
    case 'deferred':
      if ('waiting' in invocation && invocation.waiting)
        return err.line(formatWhy(`still ${status}, ${invocation_id}`, invocation.waiting, err));
      return warn(`◷ still ${status} when the wait ended`, `It continues: capstan logs -f ${invocation_id}`);
    case 'ambiguous':
      return warn(
        `? ambiguous: it may have taken effect; capstan show ${invocation_id} says what happened`,
        `Find out whether it took effect, then record it with capstan resolve, or run it again with capstan redrive`,
      );
    default: {
      const code = result?.code ?? null;
      const headline = result?.error ?? (status === 'denied' ? decision.reason : 'no result');
      const suggestion = code === null ? null : await suggestionOf(code);
      await err.line(
        formatFailure({ headline: `${status}: ${headline}`, code, suggestion, context: [invocation_id] }, err),
      );
    }
  }
};

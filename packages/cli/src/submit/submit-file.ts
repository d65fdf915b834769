import type { Waiting } from '@capstan/contracts';
import { visibleJson, visibleLine } from '@capstan/contracts/visible-text';
import type { ExitCode } from '../exit-code.js';
import { countOf, formatCount } from '../format/count.js';
import { formatFailure } from '../format/failure.js';
import { paintStatus, statusText } from '../format/status.js';
import { cut, widthOf } from '../format/width.js';
import { formatWhy } from '../print-outcome.js';
import { createProgress } from '../progress/progress.js';
import type { Session } from '../session.js';
import { awaitRuns, type Outcome } from './await-runs.js';
import { batches } from './batches.js';
import { openSource } from './open-source.js';
import { readSubmissions } from './read-submissions.js';
import { type Sent, type SentBatch, sendBatch } from './send-batch.js';
import { type Counts, createTally, exitCodeOfOutcomes, type Tally } from './tally.js';

type Options = { wait: boolean; limit_ms: number | undefined };

/** How many problems are listed; the rest are only counted. */
const NAMED_PROBLEMS = 10;

/** Reads, submits and, with `wait`, waits. Results and JSON go to stdout, everything else to stderr. */
export const submitFile = async (session: Session, file: string, { wait, limit_ms }: Options): Promise<ExitCode> => {
  const started = performance.now();
  const tally = createTally();
  const taken: SentBatch[] = [];
  try {
    // Without `wait` the ids are not needed again, and a large file has many.
    for await (const batch of sendAll(session, file, tally)) taken.push(wait ? batch : { ...batch, sent: [] });
  } catch (error) {
    await sayHowFar(session, tally.counts);
    throw error;
  }
  if (!wait) return printSummary(session, tally, taken);
  const deadline = limit_ms === undefined ? Number.POSITIVE_INFINITY : started + limit_ms;
  return printOutcomes(session, taken, tally.counts.submitted, deadline);
};

async function* sendAll(session: Session, file: string, tally: Tally): AsyncGenerator<SentBatch> {
  const source = await openSource(session, file);
  const client = await session.client();
  const progress = createProgress(session.err, 'submitting');
  let named = 0;
  let bytes = 0;
  try {
    for await (const batch of batches(readSubmissions(source.chunks))) {
      session.signal.throwIfAborted();
      const taken = await sendBatch(batch, { client, signal: session.signal });
      tally.add(taken.sent);
      const refused = taken.sent.filter(({ problem }) => problem !== undefined).slice(0, NAMED_PROBLEMS - named);
      named += refused.length;
      if (refused.length > 0) await progress.end();
      for (const each of refused) await session.err.line(nameProblem(session, each));
      yield taken;
      // Includes the line ending.
      bytes += batch.reduce((sum, entry) => sum + entry.bytes + 1, 0);
      await progress.update(tally.counts.submitted, source.size === null ? null : Math.min(1, bytes / source.size));
    }
  } finally {
    await progress.end();
  }
}

const nameProblem = ({ err }: Session, { place, problem }: Sent): string =>
  formatFailure(
    { headline: `${place}: ${problem?.detail}`, code: problem?.code, suggestion: problem?.suggestion ?? null },
    err,
  );

const printSummary = async (session: Session, tally: Tally, taken: readonly SentBatch[]): Promise<ExitCode> => {
  const run_ids = taken.flatMap((batch) => batch.run_ids);
  if (session.json) await session.printJson({ ...tally.counts, run_ids });
  else {
    for (const run_id of run_ids) await session.out.line(run_id);
    await session.err.line(describe(session, tally.counts));
    const [first] = run_ids;
    if (first !== undefined && session.out.tty)
      await session.err.line(session.err.colors.dim(`  Status: capstan show ${first}`));
  }
  return tally.exitCode();
};

const describe = ({ err: { colors } }: Session, { submitted, accepted, held, denied, invalid }: Counts): string => {
  const parts = [
    accepted > 0 ? colors.green(`${formatCount(accepted)} accepted`) : null,
    held > 0 ? colors.yellow(`${formatCount(held)} held`) : null,
    denied > 0 ? colors.magenta(`${formatCount(denied)} denied`) : null,
    invalid > 0 ? colors.red(`${formatCount(invalid)} invalid`) : null,
  ].filter((part) => part !== null);
  return `${countOf(submitted, 'invocation')}: ${parts.length === 0 ? 'nothing to submit' : parts.join(', ')}`;
};

const sayHowFar = async (session: Session, counts: Counts): Promise<void> => {
  if (counts.submitted === 0) return;
  await session.err.line(`Stopped after ${describe(session, counts)}. Accepted invocations continue.`);
};

/** True if a person reads the results: in a pipe they are JSON Lines. */
const isRead = ({ out, json }: Session): boolean => out.tty && !json;

/** One line of the terminal. */
const formatOutcome = ({ out }: Session, { index, status, tool_id, problem, result }: Outcome): string => {
  const said = result?.error ?? problem?.detail ?? JSON.stringify(result?.payload ?? null);
  const rest = `  item ${index + 1}  ${[tool_id, said].filter(Boolean).map(String).map(visibleLine).join('  ')}`;
  const shown = statusText(status);
  return paintStatus(status, shown, out.colors) + cut(rest, Math.max(20, out.columns - widthOf(shown)));
};

const isTrouble = ({ status, problem }: Outcome): boolean => status !== 'succeeded' && problem === undefined;

const nameTrouble = ({ err }: Session, { index, status, tool_id, invocation_id, result }: Outcome): string => {
  const why = result?.error ? `: ${visibleLine(result.error)}` : '';
  const text = `${err.colors.red('✗')} item ${index + 1}, ${visibleLine(tool_id ?? '')}: ${status}${why}`;
  return invocation_id === undefined ? text : `${text}\n  ${err.colors.dim(invocation_id)}`;
};

const printOutcomes = async (
  session: Session,
  taken: readonly SentBatch[],
  total: number,
  deadline: number,
): Promise<ExitCode> => {
  const client = await session.client();
  const progress = createProgress(session.err, 'finished');
  const counts = new Map<Outcome['status'], number>();
  const troubles: Outcome[] = [];
  const onProgress = (done: number): Promise<void> => progress.update(done, total === 0 ? null : done / total);
  try {
    const onWaiting = async (why: Waiting): Promise<void> => {
      await progress.end();
      await session.err.line(formatWhy('waiting', why, session.err));
    };
    const { signal } = session;
    for await (const outcomes of awaitRuns(taken, { client, signal, deadline, onProgress, onWaiting })) {
      for (const { status } of outcomes) counts.set(status, (counts.get(status) ?? 0) + 1);
      // Items refused at submission have been listed already.
      troubles.push(...outcomes.filter(isTrouble).slice(0, NAMED_PROBLEMS - troubles.length));
      if (session.out.tty) await progress.end();
      for (const outcome of outcomes)
        await session.out.line(isRead(session) ? formatOutcome(session, outcome) : visibleJson(outcome));
    }
  } catch (error) {
    await progress.end();
    await session.err.line('Stopped waiting. The invocations continue: see `capstan runs`.');
    throw error;
  } finally {
    await progress.end();
  }
  const summary = [...counts].map(([status, count]) => `${formatCount(count)} ${status}`).join(', ');
  if (!isRead(session)) for (const trouble of troubles) await session.err.line(nameTrouble(session, trouble));
  await session.err.line(`${countOf(total, 'invocation')}: ${summary || 'nothing to submit'}`);
  const run_ids = taken.flatMap((batch) => batch.run_ids);
  if (run_ids.length > 0)
    await session.err.line(
      session.err.colors.dim(`  ${run_ids.map((run_id) => `capstan show ${run_id}`).join('\n  ')}`),
    );
  return exitCodeOfOutcomes(new Set(counts.keys()));
};

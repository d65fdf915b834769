import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import type { Mismatch, Verification } from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';
import { BundleError, bundleLines, CheckpointError, verifyBundle } from '@capstan/integrity';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { countOf, formatCount } from '../format/count.js';
import { printTable } from '../print-items.js';
import { createProgress } from '../progress/progress.js';
import { resolveId } from '../resolve-id.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

type Verdict = Pick<Verification, 'ok' | 'checked' | 'mismatches' | 'more' | 'removed' | 'removed_more'> & {
  run_id: string | null;
  root: string | null;
  signed_by: string | null;
  superseded?: Verification['superseded'];
};

type Options = { signedBy?: string };

export const addVerify: AddCommand = (program, cli) => {
  program
    .command('verify')
    .description('recompute the hashes of a run, or of a bundle without a gateway')
    .argument('<run|file>', 'run_…, inv_…, or a bundle file')
    .option('--signed-by <key>', 'verifier key that must have signed the checkpoint of a bundle')
    .action((what: string, options: Options, command: Command) =>
      cli.run(command, async (session) => {
        const verdict = /^(run|inv)_[\w-]+$/.test(what)
          ? await verifyRun(session, (await resolveId(session, what)).replace(/^inv_/, 'run_'))
          : await verifyFile(session, what, options.signedBy);
        return print(session, verdict);
      }),
    );
};

const verifyRun = async (session: Session, run_id: string): Promise<Verdict> => {
  const client = await session.client();
  const progress = createProgress(session.err, 'verified');
  try {
    for await (const line of client.records.verifyLines(run_id, { signal: session.signal })) {
      if (line.kind === 'progress') await progress.update(line.checked, line.checked / Math.max(1, line.total));
      else return { ...line, ...signatureOf(line) };
    }
  } finally {
    await progress.end();
  }
  throw new Error('the gateway closed the connection before all records were verified');
};

/** Runs from before the log was introduced have a seal instead of a checkpoint. */
const signatureOf = ({ checkpoint, seal }: Verification): Pick<Verdict, 'root' | 'signed_by'> => ({
  root: checkpoint?.root ?? seal?.root ?? null,
  signed_by: checkpoint?.key ?? seal?.key_id ?? null,
});

/** Streamed line by line, because a bundle may be larger than memory. */
const verifyFile = async (session: Session, file: string, key: string | undefined): Promise<Verdict> => {
  const progress = createProgress(session.err, 'verified');
  const input = createReadStream(resolve(session.cwd, file));
  let total = 1;
  try {
    return await verifyBundle(bundleLines(input), {
      key,
      onLine: async (line, checked) => {
        if (line.line === 'header') total = line.count;
        if (checked % 100 === 0) await progress.update(checked, Math.min(1, checked / Math.max(1, total)));
      },
    });
  } catch (error) {
    if (error instanceof CheckpointError) throw new UsageError(`--signed-by: ${error.message}`);
    if (error instanceof BundleError)
      throw new UsageError(`${file}: ${error.message}`, 'Create a bundle with `capstan report <run> --bundle <file>`.');
    if (isMissing(error)) throw new UsageError(`${file} is neither a run id nor a file`);
    throw error;
  } finally {
    input.destroy();
    await progress.end();
  }
};

const SHOWN = 10;

/** A payload removed by retention is not a mismatch: its hash remains and was verified. */
const printRemoved = async ({ out }: Session, { removed, removed_more }: Verdict): Promise<void> => {
  const count = removed.length + removed_more;
  if (count === 0) return;
  await out.line(`  ${countOf(count, 'result')} removed by retention, verified by hash:`);
  for (const { row, removed_at } of removed.slice(0, SHOWN)) await out.line(`    ${visibleLine(row)}  ${removed_at}`);
  if (count > SHOWN) await out.line(`    and ${formatCount(count - SHOWN)} more`);
};

const printSuperseded = async ({ out }: Session, { superseded = [] }: Verdict): Promise<void> => {
  for (const { id, log_index, reason } of superseded.slice(0, SHOWN))
    await out.line(`  superseded: entry ${log_index} of ${visibleLine(id)}, ${visibleLine(reason)}`);
  if (superseded.length > SHOWN) await out.line(`    and ${formatCount(superseded.length - SHOWN)} more`);
};

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

const print = async (session: Session, verdict: Verdict): Promise<ExitCode> => {
  const { out } = session;
  const { ok, checked, mismatches, more, root, signed_by } = verdict;
  if (session.json) await session.printJson(verdict);
  else if (ok) {
    await out.line(`${out.colors.green('✓')} ${verdict.run_id}: ${countOf(checked, 'record')}, all hashes match`);
    await printRemoved(session, verdict);
    await printSuperseded(session, verdict);
    await out.line(out.colors.dim(`  root ${root}, ${signed_by === null ? 'not signed' : `signed by ${signed_by}`}`));
  } else {
    await printTable<Mismatch>(session, mismatches, {
      empty: '',
      columns: [
        { title: 'TABLE', text: ({ table }) => visibleLine(table) },
        { title: 'ROW', text: ({ row }) => visibleLine(row) },
        { title: 'FIELD', text: ({ field }) => visibleLine(field) },
        { title: 'STORED', text: ({ stored }) => visibleLine(JSON.stringify(stored ?? null)), shrinks: true },
        { title: 'WHY', text: ({ why }) => visibleLine(why), shrinks: true },
      ],
    });
    await out.line(
      out.colors.red(
        `✗ ${verdict.run_id}: ${formatCount(mismatches.length + more)} of ${countOf(checked, 'record')} do not match`,
      ),
    );
  }
  return ok ? EXIT.success : EXIT.failed;
};

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { LogProof } from '@capstan/contracts';
import { visibleText } from '@capstan/contracts/visible-text';
import {
  CheckpointError,
  isConsistent,
  isSignedBy,
  leafHash,
  parseCheckpoint,
  rootByInclusion,
  type SignedCheckpoint,
} from '@capstan/integrity';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatCount } from '../format/count.js';
import { resolveId } from '../resolve-id.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

type Options = { signedBy?: string };
const SIGNED_BY = ['--signed-by <key>', 'verifier key that must have signed the checkpoint'] as const;

export const addLog: AddCommand = (program, cli) => {
  const log = program.command('log').description('print and prove checkpoints of the Merkle log of calls and runs');
  log
    .command('checkpoint')
    .description('print the newest checkpoint, to be kept elsewhere')
    .option(...SIGNED_BY)
    .action((options: Options, command: Command) => cli.run(command, (session) => checkpoint(session, options)));
  log
    .command('prove')
    .description('prove that a call or a run is in the log')
    .argument('<id>', 'inv_… or run_…')
    .option(...SIGNED_BY)
    .action((id: string, options: Options, command: Command) =>
      cli.run(command, async (session) => prove(session, await resolveId(session, id), options)),
    );
  log
    .command('consistency')
    .description('prove that a later log extends an earlier one')
    .argument('<old>', 'file with an earlier checkpoint')
    .argument('[new]', 'file with a later checkpoint; by default the newest is fetched')
    .option(...SIGNED_BY)
    .action((before: string, after: string | undefined, options: Options, command: Command) =>
      cli.run(command, (session) => consistency(session, before, after, options)),
    );
};

const checkpoint = async (session: Session, options: Options): Promise<ExitCode> => {
  const note = await (await session.client()).log.checkpoint({ signal: session.signal });
  const { origin, size, root, signatures } = checked(note, options, 'the log');
  if (session.json)
    await session.printJson({ origin, size, root: root.toString('base64'), signed: signatures.length > 0, note });
  else await session.out.write(visibleText(note));
  if (signatures.length === 0)
    await session.err.line(
      session.err.colors.yellow('The checkpoint is not signed. Set CAPSTAN_SEAL_KEY to sign checkpoints.'),
    );
  return EXIT.success;
};

const prove = async (session: Session, id: string, options: Options): Promise<ExitCode> => {
  const proof = await (await session.client()).log.prove(id, { signal: session.signal });
  const head = checked(proof.checkpoint.note, options, 'the log');
  const ok = isProven(proof, head);
  const { out } = session;
  if (session.json) await session.printJson({ ok, ...proof });
  else if (ok) {
    await out.line(`${out.colors.green('✓')} ${id} is entry ${proof.log_index} of ${head.size}`);
    await out.line(out.colors.dim(`  leaf ${proof.leaf_hash}, ${signature(head, proof.checkpoint.key)}`));
  } else await out.line(out.colors.red(`✗ ${id}: the proof does not match the root of the checkpoint`));
  return ok ? EXIT.success : EXIT.failed;
};

/** Computed locally: a claim by the gateway proves nothing. */
const isProven = ({ record_hash, log_index, proof }: LogProof, { size, root }: SignedCheckpoint): boolean => {
  const leaf = leafHash(Buffer.from(record_hash.replace(/^sha256:/, ''), 'hex'));
  const path = proof.map((hash) => Buffer.from(hash, 'base64'));
  return rootByInclusion(leaf, log_index, size, path)?.equals(root) === true;
};

const consistency = async (
  session: Session,
  before: string,
  after: string | undefined,
  options: Options,
): Promise<ExitCode> => {
  const { log } = await session.client();
  const { signal } = session;
  const old = checked(await readNote(session, before), options, before);
  const late = checked(
    after === undefined ? await log.checkpoint({ signal }) : await readNote(session, after),
    options,
    after ?? 'the log',
  );
  if (old.origin !== late.origin)
    throw new UsageError(`the checkpoints are of different logs: ${old.origin} and ${late.origin}`);
  const { out } = session;
  const ok = old.size <= late.size && (await isContinued(session, old, late));
  if (session.json) await session.printJson({ ok, origin: old.origin, from: old.size, to: late.size });
  else if (ok)
    await out.line(
      `${out.colors.green('✓')} the log of ${formatCount(late.size)} entries begins with that of ${formatCount(old.size)}`,
    );
  else
    await out.line(
      out.colors.red(
        `✗ the log was rewritten: its ${late.size} entries do not extend the ${old.size} of the earlier checkpoint`,
      ),
    );
  return ok ? EXIT.success : EXIT.failed;
};

const isContinued = async (session: Session, old: SignedCheckpoint, late: SignedCheckpoint): Promise<boolean> => {
  const { log } = await session.client();
  const { proof } = await log.consistency(old.size, late.size, { signal: session.signal });
  return isConsistent(
    old,
    late,
    proof.map((hash) => Buffer.from(hash, 'base64')),
  );
};

const readNote = async (session: Session, file: string): Promise<string> => {
  try {
    return await readFile(resolve(session.cwd, file), 'utf8');
  } catch {
    throw new UsageError(`cannot read ${file}`, 'Save a checkpoint with `capstan log checkpoint > <file>`.');
  }
};

const checked = (note: string, { signedBy }: Options, from: string): SignedCheckpoint => {
  try {
    const head = parseCheckpoint(note);
    if (signedBy === undefined || isSignedBy(head, signedBy)) return head;
  } catch (error) {
    if (error instanceof CheckpointError) throw new UsageError(`${from}: ${error.message}`);
    throw error;
  }
  throw new UsageError(`the checkpoint of ${from} is not signed with the key given`);
};

const signature = (head: SignedCheckpoint, key: string | null): string =>
  key !== null && isSignedBy(head, key) ? `signed by ${key}` : 'not signed';

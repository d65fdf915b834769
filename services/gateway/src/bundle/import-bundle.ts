import { Failure, type ImportedBundle, type Principal } from '@capstan/contracts';
import { BundleError, type BundleLine, type BundleVerdict, verifyBundle } from '@capstan/integrity';
import { keepBundle } from '@capstan/store';
import type { GatewayContext } from '../gateway-context.js';

/** Checked before anything is kept: a bundle that does not verify is worth nothing to anybody. */
export async function importBundle(
  { store }: GatewayContext,
  principal: Principal,
  body: unknown,
): Promise<ImportedBundle> {
  if (!Buffer.isBuffer(body)) throw invalid('The body is to be the file itself, as application/x-ndjson.');
  const lines = body
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
  const told: { header?: Extract<BundleLine, { line: 'header' }>; seal?: Extract<BundleLine, { line: 'seal' }> } = {};
  const verdict = await check(lines, (line) => {
    if (line.line === 'header') told.header = line;
    if (line.line === 'seal') told.seal = line;
  });
  if (!verdict.ok || !told.header || !told.seal)
    throw new Failure('BUNDLE_INVALID', {
      detail: `The bundle does not verify: ${describe(verdict)}.`,
      context: { mismatches: verdict.mismatches.slice(0, 20) },
    });
  const { run_id, kind } = told.header;
  return keepBundle(store, principal, { run_id, kind, count: told.seal.count, seal_hash: told.seal.seal_hash }, lines);
}

async function check(lines: readonly string[], onLine: (line: BundleLine) => void): Promise<BundleVerdict> {
  try {
    return await verifyBundle(lines, onLine);
  } catch (error) {
    if (error instanceof BundleError) throw invalid(`The bundle cannot be read: ${error.message}.`);
    throw error;
  }
}

const describe = ({ mismatches: [first] }: BundleVerdict): string =>
  first ? `${first.table}.${first.field} of ${first.row}: ${first.why}` : 'it is not whole';
const invalid = (detail: string): Failure => new Failure('BUNDLE_INVALID', { detail });

import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { Failure, type ImportedBundle, type Principal } from '@capstan/contracts';
import { BundleError, type BundleLine, type BundleVerdict, bundleLines, verifyBundle } from '@capstan/integrity';
import { keepBundle, type Spooled, spool } from '@capstan/store';
import type { GatewayContext } from '../gateway-context.js';

/** A bundle that is larger goes to a file before it is looked at: no sender keeps a transaction open. */
const INLINE_BYTES = 1_048_576;
const MAX_BYTES = 16 * 1024 ** 3;

/** Checked before anything is kept: a bundle that does not verify is worth nothing to anybody. */
export async function importBundle(
  { store }: GatewayContext,
  principal: Principal,
  body: unknown,
): Promise<ImportedBundle> {
  if (!(body instanceof Readable)) throw invalid('The body is to be the file itself, as application/x-ndjson.');
  return spool(limited(body), { inline_bytes: INLINE_BYTES, max_bytes: MAX_BYTES }, async (spooled) =>
    keepBundle(store, principal, await check(spooled), linesOf(spooled)),
  );
}

async function* limited(body: Readable): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BYTES)
      throw new Failure('BODY_TOO_LARGE', {
        detail: `A bundle may have ${MAX_BYTES} bytes at most.`,
        suggestion: 'Check it without a server: capstan verify <file>.',
      });
    yield chunk;
  }
}

const linesOf = (spooled: Spooled): AsyncGenerator<string> =>
  bundleLines('file' in spooled ? createReadStream(spooled.file) : Readable.from([spooled.bytes]));

async function check(spooled: Spooled): Promise<Parameters<typeof keepBundle>[2]> {
  const told: { header?: Extract<BundleLine, { line: 'header' }>; seal?: Extract<BundleLine, { line: 'seal' }> } = {};
  const verdict = await readable(() =>
    verifyBundle(linesOf(spooled), (line) => {
      if (line.line === 'header') told.header = line;
      if (line.line === 'seal') told.seal = line;
    }),
  );
  const { header, seal } = told;
  if (!verdict.ok || !header || !seal)
    throw new Failure('BUNDLE_INVALID', {
      detail: `The bundle does not verify: ${describe(verdict)}.`,
      context: { mismatches: verdict.mismatches.slice(0, 20) },
    });
  return { run_id: header.run_id, kind: header.kind, count: seal.count, seal_hash: seal.seal_hash };
}

async function readable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof BundleError) throw invalid(`The bundle cannot be read: ${error.message}.`);
    throw error;
  }
}

const describe = ({ mismatches: [first] }: BundleVerdict): string =>
  first ? `${first.table}.${first.field} of ${first.row}: ${first.why}` : 'it is not whole';
const invalid = (detail: string): Failure => new Failure('BUNDLE_INVALID', { detail });

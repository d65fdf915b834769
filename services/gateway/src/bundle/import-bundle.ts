import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { Failure, type ImportedBundle, MAX_RESULT_DEPTH, type Principal, tooDeepAt } from '@capstan/contracts';
import { BundleError, type BundleVerdict, bundleLines, type HeaderLine, verifyBundle } from '@capstan/integrity';
import { type Spooled, spool } from '@capstan/store/artifact';
import { keepBundle } from '@capstan/store/record';
import type { GatewayContext } from '../gateway-context.js';

/** Larger bundles are spooled to a file before they are checked, so that a slow sender does not keep a transaction open. */
const INLINE_BYTES = 1_048_576;
const MAX_BYTES = 16 * 1024 ** 3;

/** Verifies a bundle, then stores it. A bundle that does not verify is refused as a whole. */
export async function importBundle(
  { store }: GatewayContext,
  principal: Principal,
  body: unknown,
): Promise<ImportedBundle> {
  if (!(body instanceof Readable)) throw invalid('The body must be the bundle file itself, as application/x-ndjson.');
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

/** A record contains a result some levels down, and verification recurses into it. */
const MAX_DEPTH = MAX_RESULT_DEPTH + 100;

async function* shallow(lines: AsyncGenerator<string>): AsyncGenerator<string> {
  let number = 0;
  for await (const line of lines) {
    number += 1;
    const at = tooDeepAt(line, MAX_DEPTH);
    if (at >= 0) throw new BundleError(`line ${number}, column ${at + 1} is nested deeper than ${MAX_DEPTH} levels`);
    yield line;
  }
}

async function check(spooled: Spooled): Promise<Parameters<typeof keepBundle>[2]> {
  let header: HeaderLine | undefined;
  let sealed: string | null = null;
  const verdict = await readable(() =>
    verifyBundle(shallow(linesOf(spooled)), {
      onLine: (line) => {
        if (line.line === 'header') header = line;
        if (line.line === 'seal') sealed = line.seal_hash;
      },
    }),
  );
  const seal_hash = sealed ?? verdict.root;
  if (!verdict.ok || !header || seal_hash === null)
    throw new Failure('BUNDLE_INVALID', {
      detail: `The bundle does not verify: ${describe(verdict)}.`,
      context: { mismatches: verdict.mismatches.slice(0, 20) },
    });
  return { run_id: header.run_id, kind: header.kind, count: verdict.checked, seal_hash };
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
  first ? `${first.table}.${first.field} of ${first.row}: ${first.why}` : 'it is incomplete';
const invalid = (detail: string): Failure => new Failure('BUNDLE_INVALID', { detail });

import { type BundleCheck, BundleError, type BundleLine, readBundleLine } from './bundle-format.js';
import { createLogBundleCheck } from './log-bundle.js';
import type { Mismatch, Removal } from './mismatch.js';
import { createSealedBundleCheck } from './sealed-bundle.js';

export type BundleVerdict = {
  ok: boolean;
  run_id: string | null;
  checked: number;
  mismatches: Mismatch[];
  more: number;
  removed: Removal[];
  removed_more: number;
  /** The key id (1.0) or the verifier key (2.0). The bundle does not prove whose key it is. */
  signed_by: string | null;
  /** The root of the run's chain (1.0) or of the checkpoint (2.0). */
  root: string | null;
};

const MAX_MISMATCHES = 1000;

export type VerifyBundleOptions = {
  /** The verifier key that must have signed the checkpoint. */
  key?: string | undefined;
  onLine?: (line: BundleLine, checked: number) => void | Promise<void>;
};

/** Verifies a bundle offline, line by line. */
export async function verifyBundle(
  lines: AsyncIterable<string> | Iterable<string>,
  { key, onLine = () => {} }: VerifyBundleOptions = {},
): Promise<BundleVerdict> {
  const verdict: BundleVerdict = {
    ...{ ok: true, run_id: null, checked: 0, mismatches: [], more: 0, removed: [], removed_more: 0 },
    ...{ signed_by: null, root: null },
  };
  const note = (found: Iterable<Mismatch>) => {
    for (const one of found) {
      verdict.ok = false;
      if (verdict.mismatches.length < MAX_MISMATCHES) verdict.mismatches.push(one);
      else verdict.more += 1;
    }
  };
  let check: BundleCheck | null = null;
  let number = 0;
  for await (const text of lines) {
    if (text === '') continue;
    number += 1;
    const line = readBundleLine(text, number);
    if (line.line === 'header') {
      if (check) throw new BundleError(`line ${number} is a second header`);
      verdict.run_id = line.run_id;
      check = line.capstan_bundle === '1.0' ? createSealedBundleCheck(line) : createLogBundleCheck(line, key);
    } else if (check) note(check.line(line, number));
    if (line.line === 'record' || line.line === 'entry') verdict.checked += 1;
    for (const one of check?.removals(line) ?? [])
      if (verdict.removed.length < MAX_MISMATCHES) verdict.removed.push(one);
      else verdict.removed_more += 1;
    await onLine(line, verdict.checked);
  }
  if (!check) throw new BundleError('the bundle is empty');
  const { mismatches, ...signed } = check.end();
  note(mismatches);
  return { ...verdict, ...signed };
}

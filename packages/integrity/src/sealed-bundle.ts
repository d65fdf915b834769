import { type BundleCheck, BundleError, type HeaderLine } from './bundle-format.js';
import { checkDocuments, type Document } from './mismatch.js';
import type { Seal } from './seal.js';
import { createVerifier, removalsOf } from './verify-sealed-record.js';

/** Checks a bundle of version 1.0: records that form a chain, and the seal at its end. */
export function createSealedBundleCheck({ run_id }: HeaderLine): BundleCheck {
  const verifier = createVerifier(run_id);
  const documents: { policies: Document[]; descriptors: Document[] } = { policies: [], descriptors: [] };
  let seal: Seal | null = null;
  return {
    line: (line, number) => {
      if (seal) throw new BundleError(`line ${number} comes after the seal`);
      if (line.line === 'policy') documents.policies.push({ hash: line.hash, value: line.value });
      else if (line.line === 'descriptor') documents.descriptors.push({ hash: line.hash, value: line.value });
      else if (line.line === 'record')
        return verifier.check(line, { kind: line.kind, id: line.id, tables: line.tables });
      else if (line.line === 'seal') {
        seal = line;
        return verifier.checkSeal(line);
      } else throw new BundleError(`line ${number} is not a line of a version 1.0 bundle`);
      return [];
    },
    removals: (line) => (line.line === 'record' ? removalsOf(line) : []),
    end: () => {
      if (!seal) throw new BundleError('the seal is missing: the file was cut off');
      const mismatches = [
        ...checkDocuments(verifier.used.policies, 'policies', 'document', documents.policies),
        ...checkDocuments(verifier.used.descriptors, 'descriptors', 'descriptor', documents.descriptors),
      ];
      return { mismatches, signed_by: seal.key_id, root: seal.root };
    },
  };
}

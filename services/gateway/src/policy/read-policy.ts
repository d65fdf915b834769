import type { PolicyDocument } from '@capstan/contracts';
import { parsePolicy } from '@capstan/policy';
import { type DocumentReaders, isLong } from '../aside/document-readers.js';

type Reader = { readers: DocumentReaders };

/** Checks a policy that was sent, as a document or as text. However long the text is, others are answered meanwhile. */
export async function readPolicy({ readers }: Reader, tenant: string, sent: unknown): Promise<PolicyDocument> {
  if (typeof sent !== 'string' || !isLong(sent)) return parsePolicy(sent);
  return readers.read<PolicyDocument>(tenant, { kind: 'policy', text: sent });
}

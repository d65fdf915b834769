import type { PolicyDocument } from '@capstan/contracts';
import { parsePolicy } from '@capstan/policy';
import { type DocumentReaders, isLong } from '../aside/document-readers.js';

type Reader = { readers: DocumentReaders };

/** Parses and checks a policy, sent as a document or as text. Long texts are parsed in a thread, so that other requests are not blocked. */
export async function readPolicy({ readers }: Reader, tenant: string, sent: unknown): Promise<PolicyDocument> {
  if (typeof sent !== 'string' || !isLong(sent)) return parsePolicy(sent);
  return readers.read<PolicyDocument>(tenant, { kind: 'policy', text: sent });
}

import type { PolicyDocument } from '@capstan/contracts';
import { parsePolicy } from '@capstan/policy';
import { isLong, readAside } from '../aside/read-aside.js';
import type { PolicyQuestion } from './policy-thread.js';

const THREAD = new URL('./policy-thread.js', import.meta.url);

/** Checks a policy that was sent, as a document or as text. However long the text is, others are answered meanwhile. */
export async function readPolicy(sent: unknown): Promise<PolicyDocument> {
  if (typeof sent !== 'string' || !isLong(sent)) return parsePolicy(sent);
  return readAside<PolicyDocument>(THREAD, { text: sent } satisfies PolicyQuestion, 'POLICY_INVALID');
}

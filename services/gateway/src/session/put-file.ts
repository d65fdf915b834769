import { Failure, NewSessionFile } from '@capstan/contracts';
import { type SessionFileWrite, type SessionScope, statSessionFile, writeSessionFile } from '@capstan/store/session';
import type { GatewayContext } from '../gateway-context.js';
import { parseWith } from '../http/parse-request.js';

/** JSON `{content, encoding?, is_readonly?}`, or with any other Content-Type the bytes themselves. */
export async function putFile(gateway: GatewayContext, scope: SessionScope, path: string, body: unknown) {
  const { store } = gateway;
  const written = await writeSessionFile(store, scope, { path, over_readonly: true, ...toWrite(body) });
  switch (written.kind) {
    case 'written':
      return { created: written.created, file: await statSessionFile(store.db, scope, path) };
    case 'full':
      throw new Failure('QUOTA_EXCEEDED', {
        detail: `${path} does not fit: the limit of the ${written.limit} is ${written.max}.`,
        suggestion: 'Delete files that are no longer needed, or write a smaller one.',
        retryable: false,
      });
    case 'refused':
      throw new Failure('ILLEGAL_STATE', {
        detail:
          written.why === 'is_a_directory' ? `${path} is a folder.` : `A part of ${path} is a file, not a folder.`,
        suggestion: 'Choose another path, or delete the existing file or folder first.',
      });
  }
}

function toWrite(body: unknown): Omit<SessionFileWrite, 'path'> {
  if (typeof body === 'string' || body instanceof Uint8Array) {
    const content = Buffer.from(body);
    return { content, encoding: isText(content) ? 'text' : 'base64' };
  }
  const { content, encoding, is_readonly } = parseWith(NewSessionFile, body, 'body');
  if (encoding === 'text') return { content: Buffer.from(content), encoding, is_readonly };
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(content) || content.replace(/=+$/, '').length % 4 === 1)
    throw new Failure('INVALID_REQUEST', { detail: 'content: not base64' });
  return { content: Buffer.from(content, 'base64'), encoding, is_readonly };
}

function isText(bytes: Uint8Array): boolean {
  try {
    return !new TextDecoder('utf-8', { fatal: true }).decode(bytes).includes('\u0000');
  } catch {
    return false;
  }
}

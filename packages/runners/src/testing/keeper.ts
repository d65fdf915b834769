import { buffer } from 'node:stream/consumers';
import type { Artifact } from '@capstan/contracts';
import type { KeptFile } from '../runner.js';

/** A place for artifacts that can be looked into. */
export function keeper() {
  const kept: { name: string; media_type: string; bytes: Buffer }[] = [];
  const keep = async ({ name, media_type, content }: KeptFile): Promise<Artifact> => {
    const bytes = content instanceof Uint8Array ? Buffer.from(content) : await buffer(content);
    kept.push({ name, media_type, bytes });
    return { sha256: 'a'.repeat(64), name, media_type, size: bytes.length };
  };
  return { kept, keep };
}

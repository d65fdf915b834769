import { Failure, type Principal, toSessionPath } from '@capstan/contracts';
import type { SessionScope } from '@capstan/store';

/** Ids come from a URL here, where anything can be written. */
export function scopeOf({ tenant }: Principal, session_id: string | undefined): SessionScope {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (!session_id || session_id.length > 255 || /[\u0000-\u001f\u007f]/.test(session_id) || !session_id.isWellFormed())
    throw new Failure('INVALID_REQUEST', {
      detail: 'session_id: 1 to 255 characters, none of them a control character.',
    });
  return { tenant, session_id };
}

export function pathOf(given: string | undefined): string {
  const normal = toSessionPath(`/${given ?? ''}`);
  if ('problem' in normal) throw new Failure('INVALID_REQUEST', { detail: `${normal.problem}.` });
  return normal.path;
}

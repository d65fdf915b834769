import type { Call } from './runner.js';

const MAX_CHARS = 500;
/** The rest of a longer text is ignored: a page may log any amount. */
const MAX_READ = 65_536;

/** Writes one line to a call's live log. The text is redacted before it is truncated, and line breaks become spaces. */
export const logLine = ({ log, redact }: Pick<Call, 'log' | 'redact'>, text: string): void => {
  const clean = redact.text(text.slice(0, MAX_READ)).replaceAll(/[\r\n]+/g, ' ');
  log('stderr', `${clean.slice(0, MAX_CHARS)}\n`);
};

/** A URL for a log, without query and credentials, which may contain keys. */
export const shownUrl = (url: string): string => {
  if (!URL.canParse(url)) return 'no URL';
  const { protocol, host, pathname } = new URL(url);
  return protocol === 'http:' || protocol === 'https:' ? `${host}${pathname}` : protocol;
};

import type { Call } from './runner.js';

const MAX_CHARS = 500;
/** More is not even looked at: a page may say as much as it likes. */
const MAX_READ = 65_536;

/** A line of a call's live log: redacted before it is cut, and one line whatever is in it. */
export const logLine = ({ log, redact }: Pick<Call, 'log' | 'redact'>, text: string): void => {
  const clean = redact.text(text.slice(0, MAX_READ)).replaceAll(/[\r\n]+/g, ' ');
  log('stderr', `${clean.slice(0, MAX_CHARS)}\n`);
};

/** What a log may show of an address: queries hold keys, and so may what comes before the host. */
export const shownUrl = (url: string): string => {
  if (!URL.canParse(url)) return 'no URL';
  const { protocol, host, pathname } = new URL(url);
  return protocol === 'http:' || protocol === 'https:' ? `${host}${pathname}` : protocol;
};

import type { Rule } from '../rule.js';

/** An indented name and its base64 value. Each part begins with a character that the previous one cannot contain. */
const LINE = /^([ \t]+["']?[\w.-]{1,253}["']?:[ \t]*["']?)([A-Za-z0-9+/]{10,}={0,3})["']?[ \t\r]*$/;
const KIND = /(?:^|\n)[ \t]*kind:[ \t]*["']?secret["']?[ \t\r]*(?:\n|$)/i;
const MAX_BLOCK = 16_384;
const NEAR = 120;

/** The values of a Secret as kubectl prints it, with its kind before or after its data. */
export const KUBERNETES_RULE: Rule = {
  id: 'kubernetes-secret',
  anchors: ['\ndata:', '\n  data:'],
  hidden: false,
  match: ({ text, final }, at, end) => {
    const { from, to, ended } = readBlock(text, end, final);
    if (!ended) return { hold: from ?? text.length };
    if (from === undefined) return null;
    const found = { from, to };
    if (isSecret(text.slice(Math.max(0, at - NEAR), at + 1))) return found;
    const after = text.slice(to, to + NEAR);
    if (isSecret(after.slice(0, after.lastIndexOf('\n') + 1)) || (final && isSecret(after))) return found;
    return after.length < NEAR && !final && !after.includes('\n---') ? { hold: from } : null;
  },
};

const isSecret = (part: string): boolean => KIND.test(part) && !part.includes('\n---');

type Block = { from: number | undefined; to: number; ended: boolean };

/** Reads the lines of the block that begins at the end of a line. */
const readBlock = (text: string, start: number, final: boolean): Block => {
  let from: number | undefined;
  let to = start;
  for (let at = text.charAt(start) === '\r' ? start + 1 : start; ; ) {
    if (at >= text.length) return { from, to, ended: final };
    if (text.charAt(at) !== '\n' || at - start > MAX_BLOCK) return { from, to, ended: true };
    const line_from = at + 1;
    const newline = text.indexOf('\n', line_from);
    const line_to = newline < 0 ? text.length : newline;
    const line = text.slice(line_from, Math.min(line_to, line_from + MAX_BLOCK));
    if (newline < 0 && !final && (line === '' || /^[ \t]/.test(line)))
      return { from: from ?? line_from, to, ended: false };
    const parsed = LINE.exec(line);
    if (!parsed) return { from, to, ended: true };
    const value_from = line_from + (parsed[1]?.length ?? 0);
    from ??= value_from;
    to = value_from + (parsed[2]?.length ?? 0);
    at = line_to;
  }
};

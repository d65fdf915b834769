const VARIABLE = /^(?:\$\{?\{?|%|@|\{\{?|<)/;
const NOTES = ['your_', 'your-', '_here', '-here', 'redacted', '...'];
const SEQUENCES = ['abcdefghijklmnopqrstuvwxyz', ...NOTES];
const WORDS = new Set(['true', 'false', 'null', 'none', 'undefined']);
const SYSTEM_PATH = /^\/(?:bin|etc|home|opt|tmp|usr|var|Users)\//;

/** True for placeholders of a secret: a variable, a repeated letter, the alphabet, a path. */
export const isPlaceholder = (secret: string): boolean => {
  if (VARIABLE.test(secret) || isRow(secret)) return true;
  const lower = secret.toLowerCase();
  return WORDS.has(lower) || SYSTEM_PATH.test(secret) || SEQUENCES.some((sequence) => lower.includes(sequence));
};

/** True for values that people type when any value will do. */
export const isMadeUp = (value: string): boolean => isPlaceholder(value) || value.includes('1234567890');

const isRow = (text: string): boolean => {
  for (let at = 1; at < text.length; at += 1) if (text.charCodeAt(at) !== text.charCodeAt(0)) return false;
  return true;
};

/** True for text that documentation uses in place of a token: mostly `x`, or a description. */
export const isFiller = (secret: string): boolean => {
  const lower = secret.toLowerCase();
  return lower.replace(/[^x*]/g, '').length * 2 > secret.length || NOTES.some((note) => lower.includes(note));
};

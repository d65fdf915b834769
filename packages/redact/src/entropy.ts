const counts = new Uint16Array(128);

/** Shannon entropy in bits per character. A random key has more than a word or a placeholder. */
export const entropy = (text: string): number => {
  counts.fill(0);
  let ascii = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 127) continue;
    counts[code] = (counts[code] ?? 0) + 1;
    ascii += 1;
  }
  let bits = 0;
  for (const count of counts) if (count > 0) bits -= (count / ascii) * Math.log2(count / ascii);
  return bits;
};

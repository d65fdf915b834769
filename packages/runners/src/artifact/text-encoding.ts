/** Encodings that round-trip: unchanged text gives exactly the same bytes. */
export type TextEncoding = 'utf8' | 'utf16le' | 'latin1';

/** Reads all bytes of a file piece by piece, then returns the encoding for redacting it. */
export type EncodingGuess = { push(chunk: Uint8Array): void; end(): TextEncoding };

/**
 * Invalid UTF-8 does not make a file safe: a single such byte in a log must not protect its secrets from redaction. The same is true of null
 * characters: archives, databases and core dumps contain plain text. Such files are redacted byte by byte.
 */
export const guessEncoding = (): EncodingGuess => {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let start: number[] = [];
  let size = 0;
  let holds_null = false;
  let is_utf8 = true;

  const decode = (chunk?: Uint8Array): void => {
    try {
      if (is_utf8) decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      is_utf8 = false;
    }
  };

  return {
    push: (chunk) => {
      if (start.length < 2) start = [...start, ...chunk.subarray(0, 2)].slice(0, 2);
      size += chunk.length;
      holds_null ||= chunk.includes(0);
      if (!holds_null) decode(chunk);
    },
    end: () => {
      if (start[0] === 0xff && start[1] === 0xfe && size % 2 === 0) return 'utf16le';
      if (holds_null) return 'latin1';
      decode();
      return is_utf8 ? 'utf8' : 'latin1';
    },
  };
};

/** How bytes are a text. Each gives the very same bytes back where nothing in the text is changed. */
export type TextEncoding = 'utf8' | 'utf16le' | 'latin1';

/** Told all bytes of a file piece by piece, it says how they are a text; null when they are none. */
export type EncodingGuess = { push(chunk: Uint8Array): void; end(): TextEncoding | null };

/**
 * A byte that is no UTF-8 makes no file a safe one: it is a text of another kind then, and whoever puts a single such byte
 * into a log must not get its secrets past. Only what holds null characters is taken for no text at all, unless it says
 * in its first two bytes that it is UTF-16.
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
      if (holds_null) return null;
      decode();
      return is_utf8 ? 'utf8' : 'latin1';
    },
  };
};

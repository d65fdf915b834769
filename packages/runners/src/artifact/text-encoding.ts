/** How bytes are a text. Each gives the very same bytes back where nothing in the text is changed. */
export type TextEncoding = 'utf8' | 'utf16le' | 'latin1';

/** Told all bytes of a file piece by piece, it says how to read them as text. */
export type EncodingGuess = { push(chunk: Uint8Array): void; end(): TextEncoding };

/**
 * A byte that is no UTF-8 makes no file a safe one: it is a text of another kind then, and whoever puts a single such byte
 * into a log must not get its secrets past. The same is true of null characters: archives, databases and core dumps hold
 * texts as they are, so they are looked at byte by byte.
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

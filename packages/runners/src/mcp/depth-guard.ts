import { MAX_RESULT_DEPTH } from '@capstan/contracts';

/** How messages are framed: one per line, a single one, or as the data of server-sent events. */
export type Framing = 'lines' | 'whole' | 'events';

const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const DATA = [...Buffer.from('data:')];
const IGNORED = DATA.length + 1;

/**
 * Measures how deeply a server's JSON is nested while its bytes arrive, because the SDK parses a message before anyone can check it.
 * A string ends at the end of its line at the latest: JSON strings contain no line ends, so no quote can hide what follows.
 */
export class DepthGuard {
  readonly #framing: Framing;
  #depth = 0;
  #in_string = false;
  #escaped = false;
  #last = 0;
  /** How many characters of `data:` the line of an event has matched so far. */
  #field = 0;
  #is_first_line = true;

  constructor(framing: Framing) {
    this.#framing = framing;
  }

  /** Throws when a message is nested more deeply than results may be. */
  check(chunk: Uint8Array): void {
    for (const byte of chunk) {
      const after = this.#last;
      this.#last = byte;
      if (byte === LF || byte === CR) {
        // In events, CR LF is one line end.
        if (this.#framing !== 'events' || byte === CR || after !== CR) this.#endLine(byte);
      } else if (this.#framing !== 'events' || this.#isData(byte)) this.#count(byte);
    }
  }

  #endLine(end: number): void {
    this.#in_string = false;
    this.#escaped = false;
    if (this.#framing === 'lines' ? end === LF : this.#framing === 'events' && this.#field === 0) this.#depth = 0;
    this.#field = 0;
    this.#is_first_line = false;
  }

  #isData(byte: number): boolean {
    if (this.#field === DATA.length) return true;
    // A byte order mark may precede the first line.
    if (this.#field === 0 && this.#is_first_line && byte > 0x7f) return false;
    if (this.#field < DATA.length) this.#field = byte === DATA[this.#field] ? this.#field + 1 : IGNORED;
    return false;
  }

  #count(byte: number): void {
    if (this.#in_string) {
      if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte === QUOTE) this.#in_string = false;
    } else if (byte === QUOTE) this.#in_string = true;
    // `[` and `{`, `]` and `}` differ in one bit.
    else if ((byte | 0x20) === 0x7b) {
      this.#depth += 1;
      if (this.#depth > MAX_RESULT_DEPTH) throw new Error(`a message nested deeper than ${MAX_RESULT_DEPTH} levels`);
    } else if ((byte | 0x20) === 0x7d) this.#depth = Math.max(0, this.#depth - 1);
  }
}

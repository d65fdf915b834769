/** Writes rows in batches, one after the other: what comes during a write goes together in the next. */
export class SingleFile<Row> {
  readonly #write: (rows: Row[]) => Promise<void>;
  /** So many are worth a write while more are to come, and so many are one at most. */
  readonly #size: { first: number; most: number };
  #rows: Row[] = [];
  #writing: Promise<void> | null = null;
  #pushed = false;
  #error: unknown = null;

  constructor(write: (rows: Row[]) => Promise<void>, size: { first: number; most: number }) {
    this.#write = write;
    this.#size = size;
  }

  add(row: Row): void {
    this.#rows.push(row);
    this.#writeNext();
  }

  /** Nothing waits for more to come. */
  push(): void {
    this.#pushed = true;
    this.#writeNext();
  }

  /** Resolves when nothing is being written any more; what has failed has. */
  async settled(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  /** Rejects if a write has failed; after that nothing is written any more. */
  async written(): Promise<void> {
    this.push();
    await this.settled();
    if (this.#error !== null) throw this.#error;
  }

  #writeNext(): void {
    if (this.#rows.length === 0) this.#pushed = false;
    const wanted = this.#pushed ? 1 : this.#size.first;
    if (this.#writing || this.#error !== null || this.#rows.length < wanted) return;
    this.#writing = this.#write(this.#rows.splice(0, this.#size.most)).then(
      () => this.#goOn(),
      (error: unknown) => {
        this.#error = error;
        this.#goOn();
      },
    );
  }

  #goOn(): void {
    this.#writing = null;
    this.#writeNext();
  }
}

import type { Json } from '@capstan/contracts';
import type { Redactor, RedactorStream } from './create-redactor.js';

/** A redactor that can learn values, for all who hold it. One is created for every call, so creating it is cheap. */
export class LiveRedactor implements Redactor {
  #current: Redactor;

  constructor(current: Redactor) {
    this.#current = current;
  }

  learn(value: string): void {
    this.#current = this.#current.with([value]);
  }

  text(text: string): string {
    return this.#current.text(text);
  }

  json(value: Json): Json {
    return this.#current.json(value);
  }

  stream(): RedactorStream {
    return this.#current.stream();
  }

  error(text: string): string {
    return this.#current.error(text);
  }

  with(values: readonly string[]): Redactor {
    return this.#current.with(values);
  }
}

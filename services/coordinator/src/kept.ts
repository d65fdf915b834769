/** A few of many, those used last; made when they are asked for. */
export class Kept<Value> {
  readonly #kept = new Map<string, Value>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  peek(key: string): Value | undefined {
    return this.#kept.get(key);
  }

  async get(key: string, make: () => Value | Promise<Value>): Promise<Value> {
    const known = this.#kept.get(key);
    const value = known ?? (await make());
    this.#kept.delete(key);
    this.#kept.set(key, value);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#max && oldest !== undefined) this.#kept.delete(oldest);
    return value;
  }

  forget(key: string): void {
    this.#kept.delete(key);
  }
}

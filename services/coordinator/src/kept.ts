/** A few of many, those used last; made when they are asked for. */
export class Kept<Value> {
  readonly #kept = new Map<string, Value>();
  readonly #max: number;
  readonly #weigh: (value: Value) => number;
  #weight = 0;

  /** So many, or where they differ in size as many as together weigh no more. The last one is kept in any case. */
  constructor(max: number, weigh: (value: Value) => number = () => 1) {
    this.#max = max;
    this.#weigh = weigh;
  }

  peek(key: string): Value | undefined {
    return this.#kept.get(key);
  }

  async get(key: string, make: () => Value | Promise<Value>): Promise<Value> {
    const value = this.#kept.get(key) ?? (await make());
    this.forget(key);
    this.#kept.set(key, value);
    this.#weight += this.#weigh(value);
    for (const oldest of this.#kept.keys()) {
      if (this.#weight <= this.#max || oldest === key) break;
      this.forget(oldest);
    }
    return value;
  }

  forget(key: string): void {
    const value = this.#kept.get(key);
    if (value === undefined) return;
    this.#kept.delete(key);
    this.#weight -= this.#weigh(value);
  }
}

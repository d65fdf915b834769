import { Counter, type Registry } from 'prom-client';

/** Counts the calls that this process denied, by code: at admission by whichever service admits, and by workers. */
export class Denials {
  readonly #counts = new Map<string, number>();

  note(code: string | null): void {
    const label = code ?? 'POLICY_DENIED';
    this.#counts.set(label, (this.#counts.get(label) ?? 0) + 1);
  }

  showIn(registry: Registry): void {
    const counts = this.#counts;
    new Counter({
      name: 'capstan_denials_total',
      help: 'Calls that this process denied, by code: when they were submitted, or right before and during the run',
      labelNames: ['code'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [code, count] of counts) this.inc({ code }, count);
      },
    });
  }
}

import type { Client } from '@capstan/client';
import type { CountingTool } from './start-counting-tool.js';

const FANNED = 8;
const LONE = 6;

/** Submits plans with every kind of step and lone calls, and knows how often the counting tool should have been called. */
export class MixedWork {
  readonly run_ids: string[] = [];
  readonly accepted: string[] = [];
  readonly #client: Client;
  readonly #tool: CountingTool;
  readonly #expected = new Map<string, number>();

  constructor(client: Client, tool: CountingTool) {
    this.#client = client;
    this.#tool = tool;
  }

  /** Between a first and a last step: one that fails at first, one that is held, and one with for_each. */
  async submit(): Promise<void> {
    const wave = String(this.run_ids.length);
    const { run_id } = await this.#client.runs.submit({
      plan: {
        max_parallel: 5,
        steps: [
          { id: 'first', needs: [], ...this.#step(`/first/${wave}`) },
          { id: 'each', needs: ['first'], for_each: this.#elements(wave), ...this.#step(`\${{ item }}`, 0) },
          {
            id: 'flaky',
            needs: ['first'],
            retry: { max_attempts: 3, backoff_ms: 20 },
            ...this.#step(`/flaky/${wave}`, 2),
          },
          { id: 'asked', needs: ['first'], ...this.#step(`/asked/${wave}`) },
          { id: 'last', needs: ['each', 'flaky', 'asked'], ...this.#step(`/last/${wave}`) },
        ],
      },
    });
    this.run_ids.push(run_id);
    const { items } = await this.#client.submitBulk(
      Array.from({ length: LONE }, (_, at) => {
        const { tool, args } = this.#step(`/lone/${wave}/${at}`);
        return { tool_id: tool, inputs: args, ...(at % 2 === 0 ? { delay_ms: 50 * at } : {}) };
      }),
    );
    this.accepted.push(...items.flatMap(({ invocation_id }) => invocation_id ?? []));
  }

  expect(path: string, calls: number): void {
    this.#expected.set(path, calls);
  }

  /** Paths that were called more or less often than expected. */
  mistakes(): { path: string; expected: number; called: number }[] {
    const paths = new Set([...this.#expected.keys(), ...this.#tool.calls.keys()]);
    return [...paths]
      .map((path) => ({ path, expected: this.#expected.get(path) ?? 0, called: this.#tool.calls.get(path) ?? 0 }))
      .filter(({ expected, called }) => expected !== called);
  }

  #elements(wave: string): string[] {
    const paths = Array.from({ length: FANNED }, (_, at) => `/each/${wave}/${at}`);
    for (const path of paths) this.expect(path, 1);
    return paths;
  }

  #step(path: string, calls = 1) {
    if (calls > 0) this.expect(path, calls);
    return { tool: 'api.call', args: { method: 'POST', url: `${this.#tool.url}${path}` } };
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import { CapstanError, type Client } from '@capstan/client';
import { holdIdOf, type InvocationStatus, isTerminal, type SubmissionInput } from '@capstan/contracts';
import type { Call, Operated, Operation, Outcome } from './history.js';
import type { Random } from './seeded-random.js';
import type { EffectServer } from './start-effect-server.js';

/** Allows the tools of the campaign, and holds some of the calls for a vote. */
export const POLICY = {
  version: '1.0',
  boundary: 'deny_by_default',
  rules: [
    { id: 'all', effect: 'allow', match: { tool: ['cap:*', 'http.get', 'api.call'] } },
    { id: 'ask', effect: 'hold', match: { labels: { ask: 'yes' } }, approvals: { allow_self: true } },
  ],
  risk: { HIGH: { effect: 'allow' } },
  limits: [{ deny_private_ips: false, timeout_ms: 60_000 }],
} as const;

const OPERATIONS_PER_SECOND = 30;
const BULK = 20;
const ANSWER_MS = 8_000;
/** More attempts than the faults of one campaign can cost a call. */
const MAX_ATTEMPTS = 30;

interface Submitted {
  readonly call: Call;
  readonly submission: SubmissionInput;
  invocation_id: string | null;
  status: InvocationStatus | null;
}

interface Answered {
  readonly invocation_id?: string | undefined;
  readonly status?: InvocationStatus | undefined;
}

/** Makes calls of every kind and does to them what people do, as chosen by the seed. Notes each operation and its outcome. */
export class Workload {
  readonly #submitted: Submitted[] = [];
  readonly #under_way = new Set<Promise<unknown>>();
  readonly #options: {
    client: Client;
    random: Random;
    tool: EffectServer;
    prefix: string;
    note: (operated: Operated) => void;
  };

  constructor(options: {
    client: Client;
    random: Random;
    tool: EffectServer;
    /** For every key. */
    prefix: string;
    note: (operated: Operated) => void;
  }) {
    this.#options = options;
  }

  get calls(): Call[] {
    return this.#submitted.map(({ call }) => call);
  }

  /** Starts operations without waiting for their answers, like many concurrent callers, until the signal. */
  async goOnUntil(end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      const operation = this.#operate();
      this.#under_way.add(operation);
      void operation.finally(() => this.#under_way.delete(operation));
      await delay(1000 / OPERATIONS_PER_SECOND);
    }
  }

  /** After the faults: repeats submissions whose outcome is unknown, votes on held calls, and redrives some ambiguous ones. */
  async finish(client: Client): Promise<void> {
    await Promise.all(this.#under_way);
    const unknown = this.#submitted.filter(({ invocation_id }) => invocation_id === null);
    for (const submitted of unknown) if (this.#chance(0.7)) await this.#submit(submitted, client);
    for await (const { labels, invocation_id } of client.list({ status: 'held', limit: 1000 }))
      await this.#vote(labels.key ?? '', invocation_id, client);
    for await (const { labels, invocation_id } of client.list({ status: 'ambiguous', limit: 1000 })) {
      const { key } = labels;
      // A redriven call that was held would be held again and need another vote.
      if (key && labels.ask === undefined && this.#chance(0.3))
        await this.#note('redrive', key, () => client.redrive(invocation_id));
    }
  }

  #chance(probability: number): boolean {
    return this.#options.random.fraction() < probability;
  }

  #operate(): Promise<unknown> {
    const { random, client } = this.#options;
    const place = random.fraction();
    if (place < 0.02) return this.#submitBulk();
    const [first, ...rest] = this.#submitted.filter(
      ({ invocation_id, status }) => invocation_id !== null && (status === null || !isTerminal(status)),
    );
    if (first && place < 0.12) {
      const chosen = random.pick([first, ...rest]);
      return this.#note('cancel', chosen.call.key, () => client.cancel(chosen.invocation_id ?? ''));
    }
    const [held, ...others] = this.#submitted.filter(({ status }) => status === 'held');
    if (held && place < 0.2) {
      const chosen = random.pick([held, ...others]);
      chosen.status = null;
      return this.#vote(chosen.call.key, chosen.invocation_id ?? '', client);
    }
    return this.#submit(this.#newCall(), client);
  }

  async #submit(submitted: Submitted, client: Client): Promise<void> {
    const answer = await this.#note('submit', submitted.call.key, () => client.submit(submitted.submission));
    if (answer) Object.assign(submitted, { invocation_id: answer.invocation_id, status: answer.status });
  }

  async #submitBulk(): Promise<void> {
    const all = Array.from({ length: BULK }, () => this.#newCall());
    const began = Date.now();
    const answer = await outcomeOf(this.#options.client.submitBulk(all.map(({ submission }) => submission)));
    for (const [index, submitted] of all.entries()) {
      const item = answer.value?.items[index];
      const { invocation_id } = item ?? {};
      const outcome = answer.outcome === 'ok' && invocation_id === undefined ? 'failed' : answer.outcome;
      if (invocation_id !== undefined) submitted.invocation_id = invocation_id;
      const id = invocation_id === undefined ? {} : { invocation_id };
      this.#options.note({ op: 'submit', key: submitted.call.key, began, at: Date.now(), outcome, ...id });
    }
  }

  async #vote(key: string, invocation_id: string, client: Client): Promise<void> {
    await this.#note('vote', key, async () => {
      await client.holds.release(holdIdOf(invocation_id));
      return { invocation_id };
    });
  }

  async #note(op: Operation, key: string, act: () => Promise<Answered>): Promise<Answered | undefined> {
    const began = Date.now();
    const { outcome, value, detail } = await outcomeOf(act());
    const { invocation_id, status } = value ?? {};
    this.#options.note({
      ...{ op, key, began, at: Date.now(), outcome },
      ...(invocation_id === undefined ? {} : { invocation_id }),
      ...(status === undefined ? {} : { status }),
      ...(detail === undefined ? {} : { detail }),
    });
    return value;
  }

  #newCall(): Submitted {
    const { random, prefix, tool } = this.#options;
    const key = `${prefix}-${this.#submitted.length}`;
    const kind = random.pick(['sum', 'get', 'get', 'post', 'post', 'post'] as const);
    const call: Call = { key, tool: kind, held: kind === 'post' && this.#chance(0.15) };
    const ms = random.pick([0, 0, 20, 200, random.between(500, 1_500)]);
    const url = tool.urlOf(key, { ms, flaky: kind === 'post' && this.#chance(0.1) });
    const submission: SubmissionInput = {
      ...SUBMISSIONS[kind](url, this.#submitted.length),
      labels: { key, ...(call.held ? { ask: 'yes' } : {}) },
      idempotency_key: key,
      max_attempts: MAX_ATTEMPTS,
      ...(this.#chance(0.1) ? { delay_ms: random.between(1, 800) } : {}),
      ...(this.#chance(0.1) ? { priority: random.between(-5, 5) } : {}),
    };
    const submitted: Submitted = { call, submission, invocation_id: null, status: null };
    this.#submitted.push(submitted);
    return submitted;
  }
}

const SUBMISSIONS: Record<Call['tool'], (url: string, a: number) => Pick<SubmissionInput, 'tool_id' | 'inputs'>> = {
  sum: (_, a) => ({ tool_id: 'cap:test_math:add', inputs: { a, b: 1 } }),
  get: (url) => ({ tool_id: 'http.get', inputs: { url } }),
  post: (url) => ({ tool_id: 'api.call', inputs: { method: 'POST', url } }),
};

/** 4xx means that nothing happened. After a 503 or no answer the outcome is unknown: the commit may have succeeded and its answer been lost. */
async function outcomeOf<Value>(
  answer: Promise<Value>,
): Promise<{ outcome: Outcome; value?: Value; detail?: string | undefined }> {
  const late = delay(ANSWER_MS, undefined, { ref: false }).then(() => Promise.reject(new Error('no answer in time')));
  try {
    return { outcome: 'ok', value: await Promise.race([answer, late]) };
  } catch (error) {
    const refused = error instanceof CapstanError && error.status < 500;
    return { outcome: refused ? 'failed' : 'unknown', detail: error instanceof Error ? error.message : String(error) };
  }
}

import { type Descriptor, NO_EFFECTS } from '@capstan/contracts';
import { compilePolicy, parsePolicy, type Request } from '@capstan/policy';
import { attempt, type Bench } from '../bench.js';
import type { Findings } from '../findings.js';

const RULES = 100;
const TOOLS = 200;
const TARGET = 50_000;
const BATCH = 5000;

/** Decisions of one policy with a hundred rules on one core: half of them about other tools, two with a condition. */
export const measureDecisions = (bench: Bench): Promise<void> =>
  attempt(bench, { part: 'decisions' }, async () => {
    bench.findings.decisions.push({ rules: RULES, per_second: decisionsPerSecond(bench.options.seconds) });
  });

function decisionsPerSecond(seconds: number): number {
  const policy = compilePolicy(parsePolicy({ boundary: 'deny_by_default', rules: rules(), limits: LIMITS }));
  const requests = Array.from({ length: TOOLS }, (_, at) => requestOf(at));
  const decide = () => {
    for (let at = 0; at < BATCH; at += 1) policy.decide(requests[at % TOOLS] ?? requestOf(0));
  };
  for (let warm = 0; warm < 10; warm += 1) decide();
  const started = performance.now();
  let decided = 0;
  while (performance.now() - started < seconds * 1000) {
    decide();
    decided += BATCH;
  }
  return (decided * 1000) / (performance.now() - started);
}

const LIMITS = [{ match: { runner: 'builtin' }, timeout_ms: 5000, max_output_bytes: 65_536 }];

function rules(): object[] {
  const others = Array.from({ length: RULES - 4 }, (_, at) => ({
    id: `rule-${at}`,
    effect: (['allow', 'hold', 'forbid'] as const)[at % 3],
    match:
      at % 2 === 0
        ? { tool: [`ext:extension-${at}:*`, `mcp:server-${at}:*`], risk_max: 'HIGH' }
        : { tool: 'cap:*', actor: `agent-${at}-*`, labels: { env: 'prod' } },
  }));
  return [
    ...others,
    { id: 'large', effect: 'hold', match: { tool: 'cap:*' }, if: 'inputs.amount > 1000.0' },
    { id: 'prod', effect: 'forbid', match: { effects: { destructive: true } }, if: "labels.env == 'prod'" },
    { id: 'roles', effect: 'forbid', match: { tool: 'cap:*', roles: ['audit'] } },
    { id: 'mine', effect: 'allow', match: { tool: 'cap:*', mode: ['execution'] }, if: "'submit' in actor.roles" },
  ];
}

const requestOf = (at: number): Request => ({
  descriptor: toolOf(at),
  inputs: { amount: at, text: 'some text' },
  mode: 'execution',
  timeout_ms: 3000,
  actor: { name: `agent-${at}`, roles: ['submit'], tenant: 'acme' },
  labels: { env: 'dev' },
  session_id: null,
});

const toolOf = (at: number): Descriptor => ({
  tool_id: `cap:bench:tool_${at}`,
  name: `tool_${at}`,
  description: '',
  source: 'capability',
  origin: 'bench',
  runner: 'builtin',
  binding: { kind: 'native' },
  input_schema: {},
  risk: 'LOW',
  side_effects: [],
  effects: NO_EFFECTS,
  trust: 'native',
  inferred: [],
});

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export const renderDecisions = (found: Findings['decisions']): string =>
  found
    .map(({ rules: count, per_second }) => {
      const verdict = `target ≥ ${whole.format(TARGET)} ${per_second >= TARGET ? '✓' : '✗'}`;
      return `decisions with ${count} rules, one core: ${whole.format(per_second)}/s, ${verdict}`;
    })
    .join('\n');

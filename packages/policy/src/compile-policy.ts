import {
  type Decision,
  type Descriptor,
  type Limits,
  type PolicyDocument,
  type PolicyMatch,
  type PolicyRule,
  Risk,
} from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { globToRegExp } from './glob.js';

/** What is asked: may this call run? */
export type Request = { descriptor: Descriptor; mode: 'execution' | 'planning'; timeout_ms?: number | undefined };

/** A policy document made ready once; `decide` is pure, and never throws. */
export type CompiledPolicy = { policy_hash: string; decide(request: Request): Decision };

const DEFAULT_LIMITS: Limits = { timeout_ms: 30_000, max_output_bytes: 1_048_576 };
const MAX_TIMEOUT_MS = 600_000;

type Matcher = (request: Request) => boolean;
type CompiledRule = { rule: PolicyRule; matches: Matcher };

export function compilePolicy(document: PolicyDocument): CompiledPolicy {
  const policy_hash = hashJson(document);
  const rules = document.rules.map((rule) => ({ rule, matches: compileMatch(rule.match) }));
  const limits = document.limits.map((limit) => ({ limit, matches: compileMatch(limit.match) }));

  const limitsFor = (request: Request): Limits => {
    const asked = request.timeout_ms ?? request.descriptor.timeout_ms ?? DEFAULT_LIMITS.timeout_ms;
    const granted = { ...DEFAULT_LIMITS, timeout_ms: Math.min(asked, MAX_TIMEOUT_MS) };
    for (const { limit, matches } of limits) {
      if (!matches(request)) continue;
      granted.timeout_ms = Math.min(granted.timeout_ms, limit.timeout_ms ?? Number.POSITIVE_INFINITY);
      granted.max_output_bytes = Math.min(granted.max_output_bytes, limit.max_output_bytes ?? Number.POSITIVE_INFINITY);
    }
    return granted;
  };

  return {
    policy_hash,
    decide: (request) => ({ ...verdict(rules, request), limits: limitsFor(request), policy_hash }),
  };
}

type Verdict = Omit<Decision, 'limits' | 'policy_hash'>;

/** Any forbid denies; else any hold holds; else any allow allows; else it is denied. */
function verdict(rules: CompiledRule[], request: Request): Verdict {
  let allow: PolicyRule | null = null;
  let hold: PolicyRule | null = null;
  for (const { rule, matches } of rules) {
    if (!matches(request)) continue;
    if (rule.effect === 'forbid') return deny('FORBIDDEN', rule.reason ?? `rule ${rule.id} forbids this tool`, rule.id);
    if (rule.effect === 'hold') hold ??= rule;
    else allow ??= rule;
  }
  if (request.mode === 'planning' && !isReadOnly(request.descriptor))
    return deny('PLANNING_MODE', 'planning mode allows only tools without side effects', null);
  if (hold)
    return {
      effect: 'hold',
      allowed: false,
      reason: hold.reason ?? `rule ${hold.id} asks for a person's consent`,
      rule_matched: hold.id,
      code: 'HELD',
    };
  if (allow)
    return {
      effect: 'allow',
      allowed: true,
      reason: allow.reason ?? `allowed by ${allow.id}`,
      rule_matched: allow.id,
      code: null,
    };
  return deny('NO_RULE', `no rule allows ${request.descriptor.tool_id}`, null);
}

const deny = (code: string, reason: string, rule_matched: string | null): Verdict => ({
  effect: 'deny',
  allowed: false,
  reason,
  rule_matched,
  code,
});

const READS = new Set(['fs.read', 'database.read', 'cloud.key_read', 'network.dns']);
const isReadOnly = (descriptor: Descriptor) => descriptor.side_effects.every((effect) => READS.has(effect));

function compileMatch(match: PolicyMatch): Matcher {
  const tools = match.tool === undefined ? null : list(match.tool).map(globToRegExp);
  const runners = match.runner === undefined ? null : new Set(list(match.runner));
  const modes = match.mode === undefined ? null : new Set(list(match.mode));
  const riskMax = match.risk_max === undefined ? null : rank(match.risk_max);
  return ({ descriptor, mode }) =>
    (tools === null || tools.some((tool) => tool.test(descriptor.tool_id))) &&
    (runners === null || runners.has(descriptor.runner)) &&
    (modes === null || modes.has(mode)) &&
    (riskMax === null || rank(descriptor.risk) <= riskMax);
}

const list = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value]);
const rank = (risk: Risk) => Risk.options.indexOf(risk);

import type { PolicyMatch } from '@capstan/contracts';
import { type CompiledRule, matchesNow } from './compile-rule.js';
import { effectCode } from './gates.js';
import { deny, type Request, type Verdict } from './request.js';

/** Nothing allows the call. Where a rule would but for one thing, that is what to say. */
export function nearMiss(rules: readonly CompiledRule[], request: Request): Verdict {
  const { tool_id } = request.descriptor;
  for (const compiled of rules) {
    if (compiled.rule.effect === 'forbid') continue;
    const failing = [...compiled.fixed, ...compiled.open].filter((test) => !test.holds(request));
    const [only] = failing;
    if (failing.length === 0 && matchesNow(compiled, request) === false)
      return missed(compiled, request, 'NO_RULE', `its condition is false: ${compiled.rule.if}`);
    // A rule for other tools is no near miss, however much else would fit.
    if (only && failing.length === 1 && only.field !== 'tool' && only.field !== 'origin')
      return missed(compiled, request, codeOf(only.field, compiled), only.why(request));
  }
  return deny('NO_RULE', `no rule allows ${tool_id}`, null);
}

const missed = ({ rule }: CompiledRule, { descriptor }: Request, code: string, why: string): Verdict =>
  deny(code, `no rule allows ${descriptor.tool_id}; ${rule.id} would, but ${why}`, null);

function codeOf(field: keyof PolicyMatch, { rule }: CompiledRule): string {
  if (field === 'trust_min') return 'TRUST_INSUFFICIENT';
  return (field === 'effects' && blockedEffect(rule.match?.effects)) || 'NO_RULE';
}

/** A rule that takes only what is not destructive blocks what is. */
const blockedEffect = (wanted: PolicyMatch['effects']): string | null =>
  wanted === undefined
    ? null
    : effectCode({
        destructive: wanted.destructive === false,
        reversible: wanted.reversible !== true,
        billable: wanted.billable === false,
        network: wanted.network === false,
        interactive: wanted.interactive === false,
        filesystem: {
          read: false,
          write: wanted.filesystem?.write === false,
          delete: wanted.filesystem?.delete === false,
        },
      });

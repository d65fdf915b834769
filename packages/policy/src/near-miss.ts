import type { PolicyMatch } from '@capstan/contracts';
import { type CompiledRule, matchesNow } from './compile-rule.js';
import { effectCode } from './gates.js';
import { deny, type Request, type Verdict } from './request.js';

/** For calls that no rule allows: finds a rule that would match if one field were different, as a hint for the error. */
export function nearMiss(rules: readonly CompiledRule[], request: Request): Verdict {
  const { tool_id } = request.descriptor;
  for (const compiled of rules) {
    if (compiled.rule.effect === 'forbid') continue;
    const failing = [...compiled.fixed, ...compiled.open].filter((test) => !test.holds(request));
    const [only] = failing;
    if (failing.length === 0 && matchesNow(compiled, request) === false)
      return missed(compiled, request, 'NO_RULE', `its condition is false: ${compiled.rule.if}`);
    // A rule for other tools is not a near miss, even if everything else matches.
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

/** A rule for tools that are not destructive excludes the destructive ones. */
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

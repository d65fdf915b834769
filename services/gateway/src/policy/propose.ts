import { isDeepStrictEqual } from 'node:util';
import { requestOf, resolveTool } from '@capstan/admission';
import {
  DAY_MS,
  DEFAULT_TENANT,
  type Decision,
  Failure,
  hasRole,
  type JsonObject,
  type Policy,
  type PolicyDocument,
  type PolicyProposal,
  PolicyRule,
  type Principal,
  type ProposalScope,
  type ProposeRequest,
} from '@capstan/contracts';
import { type CompiledPolicy, compilePolicy, formatPolicy, formatRule, proposeRule, withRule } from '@capstan/policy';
import { getHold, type HeldCall, policyInForce } from '@capstan/store/hold';
import { latestPolicy } from '@capstan/store/policy';
import type { GatewayContext } from '../gateway-context.js';
import { redacted } from '../hold/hold-item.js';
import { redactComment } from '../hold/redact-comment.js';
import { notFound } from '../invocation/act-on.js';
import { collectWhatIf, whatIf } from './what-if.js';

const DAYS = 30;
const MAX_LISTED = 50;

/**
 * Proposes a rule that allows calls like a held one: of this tool, by this actor, with these inputs, past exactly the rules and
 * gates that hold it now. The rule is tested on the hold itself and on recorded decisions before it is returned. Only an admin can
 * put it in force.
 */
export async function proposeFor(
  gateway: GatewayContext,
  principal: Principal,
  { hold_id, inputs: names }: ProposeRequest,
  signal: AbortSignal,
): Promise<PolicyProposal> {
  const { store, catalog, rules, policies } = gateway;
  const { tenant } = principal;
  const hold = await getHold(store.db, tenant, hold_id);
  if (!hold) throw notFound(hold_id);
  const policy = await governing(gateway, hold);
  const request = requestOf(rules, resolveTool(catalog, hold.tool_id), hold);
  const compile = (document: PolicyDocument): CompiledPolicy =>
    compilePolicy({ ...document, installation: policies.installation() });

  const now = compile(policy.document).decide(request);
  if (now.effect !== 'hold')
    throw impossible(hold, `policy does not hold such a call any more: ${now.effect}, ${now.reason}`);
  const covers = scopeOf(hold, request.inputs, names, holdsOf(policy.document, now));
  const rule = checkedRule(hold, proposeRule(policy.document, covers, `proposed from ${hold_id}`));
  const draft = compile({ ...policy.document, rules: [...(policy.document.rules ?? []), rule] });
  const then = draft.decide(request);
  if (then.effect !== 'allow') throw impossible(hold, stillHeld(then));

  const since = new Date(Date.now() - DAYS * DAY_MS).toISOString();
  const range = { tenant, tool_id: hold.tool_id, since, limit: MAX_LISTED };
  const what_if = await collectWhatIf(whatIf(gateway, draft, range, signal));
  const may_read = hasRole(principal, 'admin') || hasRole(principal, 'audit');
  const { name, version } = policy;
  return {
    rule,
    yaml: formatRule(rule),
    covers,
    what_if,
    policy: may_read ? { name, version, text: withRule(formatPolicy(policy), rule) } : null,
  };
}

/** The tenant's own policy, else `default`. A run with a policy of its own is decided by that policy alone. */
async function governing({ store }: GatewayContext, hold: HeldCall): Promise<Policy> {
  const [own, of_tenant] = await Promise.all([
    policyInForce(store.db, hold),
    policyInForce(store.db, { ...hold, run_id: null }),
  ]);
  if (own?.policy_hash !== of_tenant?.policy_hash)
    throw impossible(hold, 'its run brought a policy of its own, which no later rule changes');
  const policy = (await latestPolicy(store.db, hold.tenant)) ?? (await latestPolicy(store.db, DEFAULT_TENANT));
  if (!policy) throw impossible(hold, 'no policy is installed');
  return policy;
}

/** The rules and gates of the tenant's own policy that hold the call. */
function holdsOf({ rules = [] }: PolicyDocument, decision: Decision): string[] {
  const holding = new Set(rules.filter(({ effect }) => effect === 'hold').map(({ id }) => id));
  return (decision.rules ?? [])
    .filter(({ id, matched, of }) => matched && of !== 'installation' && (holding.has(id) || isGate(id)))
    .map(({ id }) => id);
}

const isGate = (id: string): boolean => /^(risk|effects)\./.test(id);

function scopeOf(
  { hold_id, tenant, tool_id, actor, mode }: HeldCall,
  inputs: JsonObject,
  names: readonly string[] | undefined,
  holds: string[],
): ProposalScope {
  const all = Object.keys(inputs);
  const unknown = names?.find((name) => !Object.hasOwn(inputs, name));
  if (unknown !== undefined)
    throw new Failure('INVALID_REQUEST', { detail: `inputs: ${hold_id} has no input ${JSON.stringify(unknown)}.` });
  const wanted = new Set(names ?? all);
  const pinned = Object.fromEntries(Object.entries(inputs).filter(([name]) => wanted.has(name)));
  const secret = Object.entries(pinned).find(([name, value]) => {
    const member = { [name]: value };
    return !isDeepStrictEqual(redacted(member), member);
  })?.[0];
  if (secret !== undefined)
    throw new Failure('ILLEGAL_STATE', {
      detail: `The input ${JSON.stringify(secret)} of ${hold_id} contains a secret, which must not be written into a policy.`,
      suggestion: 'List the other inputs that matter in `inputs`; the rule then allows any value for the rest.',
      context: { hold_id, input: secret },
    });
  const any_input = all.filter((name) => !wanted.has(name));
  return { tenant, tool_id, actor, mode, inputs: pinned, any_input, exact: any_input.length === 0, holds };
}

/** Inputs may be too long for a condition. */
function checkedRule({ hold_id }: HeldCall, rule: PolicyRule): PolicyRule {
  const checked = PolicyRule.safeParse(rule);
  if (checked.success) return checked.data;
  throw new Failure('ILLEGAL_STATE', {
    detail: `The inputs of ${hold_id} are too long to be written into a rule.`,
    suggestion:
      'List only the inputs that matter, or approve the same call in advance: capstan grant with its input hash.',
    context: { hold_id },
  });
}

const stillHeld = ({ effect, reason, decided_by }: Decision): string =>
  `${decided_by === 'installation' ? "the installation's policy, which no tenant changes," : 'policy'} would still ${effect} it: ${reason}`;

const impossible = ({ hold_id }: HeldCall, why: string): Failure =>
  new Failure('ILLEGAL_STATE', {
    // The reason may quote the inputs.
    detail: `No rule is proposed for ${hold_id}: ${redactComment(why)}.`,
    context: { hold_id },
  });

import { proposeRelease } from '@capstan/admission';
import { tellReady } from '@capstan/backbone';
import {
  type Answers,
  Failure,
  type Hold,
  type Principal,
  type Release,
  whyMayNotDecide,
  whyMayNotRelease,
} from '@capstan/contracts';
import type { CompiledPolicy } from '@capstan/policy';
import { publishEnded } from '@capstan/queue';
import type { Readied } from '@capstan/store/claim';
import {
  answerHold,
  commentOnHold,
  endHold,
  getHold,
  type HeldCall,
  policyInForce,
  voteOnHold,
} from '@capstan/store/hold';
import type { GatewayContext } from '../gateway-context.js';
import { notFound } from '../invocation/act-on.js';
import { checkAnswers, withDefaults } from './check-answers.js';
import { keepSecrets } from './keep-secrets.js';
import { mayReleaseAlone } from './may-release-alone.js';
import { redactComment } from './redact-comment.js';
import { readHold } from './show-hold.js';

/**
 * Votes to release a held call: load the hold → check the voter → decide again with the current tool, inputs and policy → one
 * transaction that adds the vote and, if it is the last one needed, releases the call → hand it over.
 */
export async function release(
  gateway: GatewayContext,
  principal: Principal,
  hold_id: string,
  { comment, inputs, input_hash, answers }: Release,
): Promise<Hold> {
  if (answers) return answer(gateway, principal, hold_id, answers);
  const hold = await find(gateway, principal, hold_id);
  if (hold.status !== 'pending') return answerDecided(gateway, principal, hold_id, 'release');
  // Editing needs the right to release the call as it was. The right to release the edited call is checked with the vote.
  const alone = await mayReleaseAlone(gateway, principal, [hold]);
  const why = inputs && !alone && whyMayNotRelease(hold.approvals, hold.actor, principal);
  if (why) throw mayNot(hold, why);
  if (input_hash !== undefined && input_hash !== hold.input_hash) throw changedMeanwhile(hold_id);
  const changed = inputs && keepSecrets(inputs, hold.inputs);
  const proposed = proposeRelease(gateway, hold, await policyFor(gateway, hold), changed);
  if (!proposed.ok)
    throw new Failure(proposed.kind, {
      detail: `It cannot be released: ${proposed.why}.`,
      ...(proposed.kind === 'POLICY_DENIED'
        ? { suggestion: 'Reject it, or release it with inputs that the policy allows.' }
        : {}),
      context: { hold_id, ...(proposed.decision ? { decision: proposed.decision } : {}) },
    });
  const voted = await gateway.store.db.transaction().execute((db) =>
    voteOnHold(db, {
      tenant: principal.tenant,
      hold_id,
      voter: { actor: principal.actor, roles: principal.roles, identity: principal.identity },
      comment: commentOf(comment, alone),
      alone,
      proposal: proposed.proposal,
      seen_input_hash: hold.input_hash,
    }),
  );
  switch (voted.kind) {
    case 'missing':
      throw notFound(hold_id);
    case 'refused':
      throw mayNot(hold, voted.why);
    case 'moved':
      throw changedMeanwhile(hold_id);
    case 'decided':
      return answerDecided(gateway, principal, hold_id, 'release');
    case 'voted':
      // An edit may have voided votes, and their voters have to be notified.
      gateway.relay.publish('due', ['now']);
      break;
    case 'released':
      tellReleased(gateway, hold, voted.readied);
  }
  return readHold(gateway, principal, hold_id);
}

/** Stored with the vote, in the audit, in the report and in the sealed record. */
const RELEASED_ALONE = '[released by the submitter: there is no second person yet]';

function commentOf(comment: string | undefined, alone: boolean): string | null {
  const said = comment === undefined ? [] : [redactComment(comment)];
  return alone ? [RELEASED_ALONE, ...said].join(' ') : (said[0] ?? null);
}

/**
 * Answers the questions of a held call's tool. The submitter of the call and anybody who may decide on the hold can answer. The
 * tool gets the answers unchanged, so each must fit its form.
 */
export async function answer(
  gateway: GatewayContext,
  principal: Principal,
  hold_id: string,
  answers: Answers,
): Promise<Hold> {
  const hold = await find(gateway, principal, hold_id);
  if (!hold.question)
    throw new Failure('ILLEGAL_STATE', {
      detail: `${hold_id} waits for a vote, not for an answer.`,
      suggestion: 'Release or reject it.',
    });
  const why = hold.actor === principal.actor ? null : whyMayNotDecide(hold.approvals, principal);
  if (why) throw mayNot(hold, why);
  const whole = withDefaults(hold.question, answers);
  checkAnswers(hold_id, hold.question, whole);
  const answered = await answerHold(gateway.store, principal, hold_id, whole);
  if (answered.kind === 'missing') throw notFound(hold_id);
  if (answered.kind === 'decided') return answerDecided(gateway, principal, hold_id, 'release');
  if (answered.kind === 'answered') tellReleased(gateway, hold, answered.readied);
  return readHold(gateway, principal, hold_id);
}

function tellReleased(gateway: GatewayContext, hold: HeldCall, readied: Readied): void {
  gateway.relay.publish('due', ['now', 'events']);
  gateway.relay.publish('changed', [hold.invocation_id]);
  tellReady(gateway, readied);
}

export async function reject(
  gateway: GatewayContext,
  principal: Principal,
  hold_id: string,
  comment: string,
): Promise<Hold> {
  const hold = await find(gateway, principal, hold_id);
  const why = whyMayNotDecide(hold.approvals, principal);
  if (why) throw mayNot(hold, why);
  return end(gateway, principal, hold_id, 'reject', comment);
}

export async function withdraw(
  gateway: GatewayContext,
  principal: Principal,
  hold_id: string,
  comment: string | null,
): Promise<Hold> {
  const hold = await find(gateway, principal, hold_id);
  if (hold.actor !== principal.actor) throw mayNot(hold, `only ${hold.actor}, who submitted it, may withdraw it`);
  return end(gateway, principal, hold_id, 'withdraw', comment);
}

async function end(
  gateway: GatewayContext,
  principal: Principal,
  hold_id: string,
  kind: 'reject' | 'withdraw',
  comment: string | null,
): Promise<Hold> {
  const ended = await endHold(gateway.store, principal, hold_id, kind, comment && redactComment(comment));
  if (ended.kind === 'missing') throw notFound(hold_id);
  if (ended.kind !== 'ended') return answerDecided(gateway, principal, hold_id, kind);
  publishEnded(gateway.relay, [ended.invocation_id]);
  gateway.relay.publish('due', ['events']);
  return readHold(gateway, principal, hold_id);
}

export async function comment(
  gateway: GatewayContext,
  principal: Principal,
  hold_id: string,
  text: string,
): Promise<Hold> {
  if (!(await commentOnHold(gateway.store, principal, hold_id, redactComment(text)))) throw notFound(hold_id);
  return readHold(gateway, principal, hold_id);
}

const DECIDED = { release: 'released', reject: 'rejected', withdraw: 'withdrawn' } as const;

/** Repeating one's own decision returns the hold again. Anybody else is told that it is decided already. */
async function answerDecided(
  gateway: GatewayContext,
  principal: Principal,
  hold_id: string,
  kind: keyof typeof DECIDED,
): Promise<Hold> {
  const hold = await readHold(gateway, principal, hold_id);
  const own = hold.votes.some(
    (vote) => vote.kind === kind && vote.actor === principal.actor && vote.round === hold.round,
  );
  if (own && hold.status === DECIDED[kind]) return hold;
  const by = hold.decided_by === null ? '' : ` by ${hold.decided_by}`;
  const state = hold.status === 'pending' ? 'expired' : `${hold.status}${by}`;
  throw new Failure('ILLEGAL_STATE', { detail: `${hold_id} is ${state} already.`, context: { hold } });
}

async function find({ store }: GatewayContext, { tenant }: Principal, hold_id: string): Promise<HeldCall> {
  const hold = await getHold(store.db, tenant, hold_id);
  if (!hold) throw notFound(hold_id);
  return hold;
}

async function policyFor({ store, policies }: GatewayContext, hold: HeldCall): Promise<CompiledPolicy> {
  const in_force = await policyInForce(store.db, hold);
  if (!in_force) throw new Failure('POLICY_DENIED', { detail: 'No policy is installed, so nothing is allowed.' });
  return policies.compiled(in_force);
}

function mayNot({ hold_id, actor, approvals, decision: { rules = [], reason } }: HeldCall, why: string): Failure {
  const holding = rules.filter(({ matched }) => matched).map(({ id }) => id);
  const by = holding.length > 0 ? `rules and gates that matched: ${holding.join(', ')}` : reason;
  const who =
    approvals.actors?.join(' or ') ?? `somebody with the role ${(approvals.roles ?? ['operate']).join(' and ')}`;
  return new Failure('ROLE_MISSING', {
    detail: `${hold_id}: ${why}. It is held because: ${reason} (${by}).`,
    suggestion:
      `It needs ${who}${approvals.allow_self ? '' : `, other than ${actor}`}. Create a key for them: capstan keys create --actor <name> --role operate. ` +
      'Or change the policy: approvals: { allow_self: true } in the rule, or risk_max in a rule that allows the tool.',
    context: { hold_id, rules: holding },
  });
}

const changedMeanwhile = (hold_id: string) =>
  new Failure('ILLEGAL_STATE', {
    detail: `The inputs of ${hold_id} have been changed meanwhile.`,
    suggestion: 'Look at the hold again, then decide.',
    context: { hold_id },
  });

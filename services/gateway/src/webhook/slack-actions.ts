import { createHmac, timingSafeEqual } from 'node:crypto';
import { Failure, type Principal } from '@capstan/contracts';
import { storageFailure } from '@capstan/store';
import { type DecidingEndpoint, useOnce } from '@capstan/store/webhook';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { reject, release } from '../hold/decide-hold.js';
import { redactComment } from '../hold/redact-comment.js';

/** As Slack recommends: an older request may be a replay. */
const MAX_AGE_S = 300;
const ANSWER_TIMEOUT_MS = 5000;

const Pressed = z.looseObject({
  type: z.literal('block_actions'),
  user: z.looseObject({ id: z.string().max(64), team_id: z.string().max(64).optional() }),
  response_url: z.url({ protocol: /^https?$/ }).optional(),
  actions: z.tuple([z.looseObject({ action_id: z.enum(['release', 'reject']), value: z.string().max(1024) })]),
  state: z
    .looseObject({ values: z.record(z.string(), z.record(z.string(), z.looseObject({ value: z.unknown() }))) })
    .optional(),
});
type Pressed = z.infer<typeof Pressed>;

/** The value of a button: the hold, and the hash of the inputs that were shown with it. */
const Button = z.strictObject({ hold_id: z.string(), input_hash: z.string() });

type Outcome = { ok: boolean; text: string };

/**
 * Handles a button press in Slack. The signature proves that Slack sent it, just now and for the first time. The endpoint's `users`
 * map the Slack user to an actor. From there on it is a decision like any other, by the same rules, with only the role operate.
 */
export async function takeSlackAction(
  gateway: GatewayContext,
  endpoint: DecidingEndpoint,
  request: FastifyRequest,
): Promise<Outcome> {
  const body = Buffer.isBuffer(request.body) ? request.body.toString('utf8') : '';
  await checkSignature(gateway, endpoint, request, body);
  const pressed = Pressed.safeParse(payloadOf(body));
  if (!pressed.success) throw refused('The payload is not that of a button of Capstan.');
  const outcome = await decide(gateway, endpoint, pressed.data);
  tell(gateway, pressed.data.response_url, outcome);
  return outcome;
}

async function checkSignature(
  { store }: GatewayContext,
  { webhook_id, secret }: DecidingEndpoint,
  { headers }: FastifyRequest,
  body: string,
): Promise<void> {
  const signature = String(headers['x-slack-signature'] ?? '');
  const sent_at = String(headers['x-slack-request-timestamp'] ?? '');
  const age_s = Math.abs(Date.now() / 1000 - Number(sent_at));
  const expected = `v0=${createHmac('sha256', secret).update(`v0:${sent_at}:${body}`).digest('hex')}`;
  if (!/^\d{1,12}$/.test(sent_at) || !isSame(signature, expected))
    throw refused('The signature is not that of the Slack app of this endpoint.');
  if (age_s > MAX_AGE_S) throw refused(`The request is older than ${MAX_AGE_S} s, or from the future.`);
  const expires_at = (Number(sent_at) + 2 * MAX_AGE_S) * 1000;
  if (!(await useOnce(store.db, `slack:${webhook_id}:${signature}`, expires_at)))
    throw refused('The request was taken before.');
}

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));

function payloadOf(body: string): unknown {
  try {
    return JSON.parse(new URLSearchParams(body).get('payload') ?? '');
  } catch {
    return null;
  }
}

const refused = (detail: string): Failure =>
  new Failure('UNAUTHENTICATED', {
    detail,
    suggestion:
      'Set the signing secret of the Slack app as the secret of this webhook, and its Request URL to this address.',
  });

async function decide(gateway: GatewayContext, endpoint: DecidingEndpoint, pressed: Pressed): Promise<Outcome> {
  const [{ action_id, value }] = pressed.actions;
  const { id, team_id = '' } = pressed.user;
  const actor = Object.hasOwn(endpoint.users, id) ? endpoint.users[id] : undefined;
  if (actor === undefined)
    return {
      ok: false,
      text: `You (${id}) cannot decide here yet: an admin has to add you to the users of this webhook.`,
    };
  const button = Button.safeParse(parsed(value));
  if (!button.success) return { ok: false, text: 'This is not a button of Capstan.' };
  const { hold_id, input_hash } = button.data;
  const principal: Principal = {
    key_id: '',
    tenant: endpoint.tenant,
    actor,
    roles: ['operate'],
    identity: { iss: 'https://slack.com', sub: `${team_id}/${id}` },
  };
  const comment = commentOf(pressed);
  try {
    if (action_id === 'reject') {
      await reject(gateway, principal, hold_id, comment ?? 'rejected in Slack');
      return { ok: true, text: `${hold_id} is rejected by ${actor}.` };
    }
    const { status, approvals } = await release(gateway, principal, hold_id, { comment, input_hash });
    const votes = `${approvals.given} of ${approvals.required} have approved`;
    return {
      ok: true,
      text: `${hold_id} is ${status === 'released' ? `approved by ${actor}` : `still held: ${votes}`}.`,
    };
  } catch (error) {
    const failure = error instanceof Failure ? error : storageFailure(error);
    if (failure.status >= 500) throw failure;
    return { ok: false, text: redactComment(failure.message) };
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

function commentOf({ state }: Pressed): string | undefined {
  const value = state?.values.comment?.comment?.value;
  return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 1000) : undefined;
}

/** Replaces the message with the decision, or tells only the user why it was refused. Slack does not wait for this. */
function tell(
  { egress, webhook_addresses, log }: GatewayContext,
  url: string | undefined,
  { ok, text }: Outcome,
): void {
  if (url === undefined) return;
  const literal = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const body = ok
    ? { replace_original: true, text: literal }
    : { response_type: 'ephemeral', replace_original: false, text: literal };
  egress
    .fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      rules: webhook_addresses.rules,
      max_redirects: 0,
      first_byte_timeout_ms: ANSWER_TIMEOUT_MS,
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    })
    .then((response) => response.discard())
    .catch((error: unknown) => log.warn({ err: error }, 'Slack could not be updated after a decision'));
}

import {
  CreatedWebhook,
  Failure,
  NewWebhook,
  pageOf,
  SequenceQuery,
  Webhook,
  WebhookChange,
  WebhookDelivery,
  webhookMistake,
} from '@capstan/contracts';
import {
  deleteWebhook,
  findDecidingEndpoint,
  getWebhook,
  insertWebhook,
  listDeliveries,
  listWebhooks,
  redeliver,
  replaceDefaultSecret,
  updateWebhook,
} from '@capstan/store/webhook';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { OVERSEERS, type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';
import { followLink } from './follow-link.js';
import { takeSlackAction } from './slack-actions.js';

/** Used in place of an endpoint id for deliveries to the webhook_url of invocations and runs. */
const URLS = 'urls';

/** Updates this process before the answer is sent, and the others by signal. */
async function changed({ rules, relay }: GatewayContext): Promise<void> {
  await rules.refresh();
  relay.publish('refresh', ['webhooks']);
}

/** The endpoint that the path names; null for `urls`. */
async function endpointOf({ store }: GatewayContext, tenant: string, id: string): Promise<Webhook | null> {
  if (id === URLS) return null;
  const webhook = await getWebhook(store.db, tenant, id);
  if (!webhook) throw notFound(id);
  return webhook;
}

/** Nothing is sent to a disabled endpoint, not even by hand. */
function mustBeEnabled(webhook: Webhook | null): void {
  if (webhook?.enabled === false)
    throw new Failure('ILLEGAL_STATE', {
      detail: `${webhook.webhook_id} is not enabled: ${webhook.disabled_reason}.`,
      suggestion: 'Enable it with PATCH /v1/webhooks/{id} {"enabled": true} first.',
    });
}

/** Checks a new address, and the current one when the endpoint is enabled again. */
async function checkChange(gateway: GatewayContext, tenant: string, id: string, change: WebhookChange): Promise<void> {
  const webhook = await getWebhook(gateway.store.db, tenant, id);
  const mistake = webhook && webhookMistake({ ...change, kind: webhook.kind });
  if (mistake)
    throw new Failure('INVALID_REQUEST', {
      detail: `${mistake.field}: ${mistake.message}`,
      context: { errors: [mistake] },
    });
  const url = change.url ?? (change.enabled ? webhook?.url : undefined);
  if (url !== undefined) await gateway.webhook_addresses.checkResolved(url, 'url');
}

export const webhookRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/webhooks',
    summary: 'Create a webhook endpoint; the secret is shown only once',
    roles: ['admin'],
    body: NewWebhook,
    answers: { 201: { description: 'The endpoint, with its secret', schema: CreatedWebhook } },
    handle: async (gateway, { principal, body, reply }) => {
      await gateway.webhook_addresses.checkResolved(body.url, 'url');
      const webhook = await insertWebhook(gateway.store, gateway.secret_keys, principal, body);
      await changed(gateway);
      return reply.code(201).header('location', `/v1/webhooks/${webhook.webhook_id}`).send(webhook);
    },
  }),
  route({
    method: 'GET',
    path: '/v1/webhooks',
    summary: 'List webhook endpoints, newest first',
    roles: OVERSEERS,
    query: SequenceQuery.strict(),
    answers: { 200: { description: 'A page', schema: pageOf(Webhook) } },
    handle: ({ store }, { principal, query }) => listWebhooks(store.db, principal.tenant, query),
  }),
  route({
    method: 'POST',
    path: '/v1/webhooks/secret',
    summary: 'Create a new signing secret for webhook_url deliveries; it is shown only once',
    roles: ['admin'],
    answers: { 200: { description: 'The secret', schema: z.object({ secret: z.string() }) } },
    handle: async ({ store, secret_keys }, { principal }) => ({
      secret: await replaceDefaultSecret(store, secret_keys, principal),
    }),
  }),
  route({
    method: 'GET',
    path: '/v1/webhooks/{id}',
    summary: 'Get a webhook endpoint',
    roles: OVERSEERS,
    answers: { 200: { description: 'The endpoint', schema: Webhook } },
    handle: async ({ store }, { principal, params }) => {
      const webhook = await getWebhook(store.db, principal.tenant, params.id ?? '');
      if (!webhook) throw notFound(params.id ?? '');
      return webhook;
    },
  }),
  route({
    method: 'PATCH',
    path: '/v1/webhooks/{id}',
    summary: 'Change a webhook endpoint, or enable it again',
    roles: ['admin'],
    body: WebhookChange,
    answers: { 200: { description: 'The endpoint', schema: Webhook } },
    handle: async (gateway, { principal, params, body }) => {
      await checkChange(gateway, principal.tenant, params.id ?? '', body);
      const webhook = await updateWebhook(gateway.store, gateway.secret_keys, principal, params.id ?? '', body);
      if (!webhook) throw notFound(params.id ?? '');
      await changed(gateway);
      return webhook;
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/webhooks/{id}',
    summary: 'Delete a webhook endpoint and its deliveries',
    roles: ['admin'],
    answers: { 204: { description: 'It is gone' } },
    handle: async (gateway, { principal, params, reply }) => {
      if (!(await deleteWebhook(gateway.store, principal, params.id ?? ''))) throw notFound(params.id ?? '');
      await changed(gateway);
      return reply.code(204).send();
    },
  }),
  route({
    method: 'GET',
    path: '/v1/webhooks/{id}/deliveries',
    summary: 'List deliveries to an endpoint; use `urls` as the id for all webhook_url deliveries',
    roles: OVERSEERS,
    query: SequenceQuery.strict(),
    answers: { 200: { description: 'A page, newest first', schema: pageOf(WebhookDelivery) } },
    handle: async (gateway, { principal, params, query }) => {
      const webhook = await endpointOf(gateway, principal.tenant, params.id ?? '');
      return listDeliveries(gateway.store.db, principal.tenant, webhook?.webhook_id ?? null, query);
    },
  }),
  route({
    method: 'POST',
    path: '/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver',
    summary: 'Send a delivery again',
    roles: ['admin', 'operate'],
    answers: { 202: { description: 'The delivery is due again', schema: WebhookDelivery } },
    handle: async (gateway, { principal, params, reply }) => {
      const webhook = await endpointOf(gateway, principal.tenant, params.id ?? '');
      mustBeEnabled(webhook);
      const delivery = await redeliver(gateway.store, principal, webhook?.webhook_id ?? null, params.delivery_id ?? '');
      if (!delivery) throw notFound(params.delivery_id ?? '');
      gateway.relay.publish('due', ['deliveries']);
      return reply.code(202).send(delivery);
    },
  }),
  route({
    method: 'POST',
    path: '/v1/webhooks/{id}/slack',
    summary: "Request URL for a Slack app: receives button presses, verified by Slack's signature",
    raw_body: true,
    answers: {
      200: {
        description: 'Accepted; the message in Slack shows the outcome',
        schema: z.object({ ok: z.boolean(), text: z.string() }),
      },
      401: { description: 'Not signed by the Slack app of this endpoint, too old, or a replay' },
    },
    handle: async (gateway, { params, request }) => {
      const endpoint = await findDecidingEndpoint(gateway.store.db, gateway.secret_keys, params.id ?? '', 'slack');
      if (!endpoint) throw notFound(params.id ?? '');
      return takeSlackAction(gateway, endpoint, request);
    },
  }),
  route({
    method: 'GET',
    path: '/v1/webhooks/{id}/links/{token}',
    summary: 'Single-use link in an email: redirects to the hold in the console, which still requires a login',
    answers: {
      302: { description: 'Redirect to the page of the hold' },
      410: { description: 'The link was used before, has expired, or is invalid', media_type: 'text/html' },
    },
    handle: (gateway, { params, request, reply }) => followLink(gateway, params, request, reply),
  }),
];

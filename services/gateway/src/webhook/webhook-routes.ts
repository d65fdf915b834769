import {
  CreatedWebhook,
  Failure,
  NewWebhook,
  pageOf,
  SequenceQuery,
  Webhook,
  WebhookChange,
  WebhookDelivery,
} from '@capstan/contracts';
import {
  deleteWebhook,
  getWebhook,
  insertWebhook,
  listDeliveries,
  listWebhooks,
  redeliver,
  replaceDefaultSecret,
  updateWebhook,
} from '@capstan/store';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';

const READERS: Route['roles'] = ['admin', 'operate', 'audit'];
/** In place of an endpoint: what was told to the webhook_url of invocations and runs. */
const URLS = 'urls';

/** Known here before the answer leaves, and everywhere else in a moment. */
async function changed({ rules, relay }: GatewayContext): Promise<void> {
  await rules.refresh();
  relay.publish('refresh', ['webhooks']);
}

/** The endpoint that the path names, as the log of deliveries has it. */
async function endpointOf({ store }: GatewayContext, tenant: string, id: string): Promise<Webhook | null> {
  if (id === URLS) return null;
  const webhook = await getWebhook(store.db, tenant, id);
  if (!webhook) throw notFound(id);
  return webhook;
}

/** Nothing is sent to one that is disabled, also not by hand. */
function mustBeEnabled(webhook: Webhook | null): void {
  if (webhook?.enabled === false)
    throw new Failure('ILLEGAL_STATE', {
      detail: `${webhook.webhook_id} is not enabled: ${webhook.disabled_reason}.`,
      suggestion: 'Enable it with PATCH /v1/webhooks/{id} {"enabled": true} first.',
    });
}

/** Another address is checked as a new one is; so is the one it has when it is enabled again. */
async function checkChange(gateway: GatewayContext, tenant: string, id: string, change: WebhookChange): Promise<void> {
  const url = change.url ?? (change.enabled ? (await getWebhook(gateway.store.db, tenant, id))?.url : undefined);
  if (url !== undefined) await gateway.webhook_addresses.checkResolved(url, 'url');
}

export const webhookRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/webhooks',
    summary: 'Tell an address what happens from now on; the secret is shown this once',
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
    summary: 'List endpoints, newest first',
    roles: READERS,
    query: SequenceQuery.strict(),
    answers: { 200: { description: 'A page', schema: pageOf(Webhook) } },
    handle: ({ store }, { principal, query }) => listWebhooks(store.db, principal.tenant, query),
  }),
  route({
    method: 'POST',
    path: '/v1/webhooks/secret',
    summary: 'A new secret for what is sent to a webhook_url; it is shown this once',
    roles: ['admin'],
    answers: { 200: { description: 'The secret', schema: z.object({ secret: z.string() }) } },
    handle: async ({ store, secret_keys }, { principal }) => ({
      secret: await replaceDefaultSecret(store, secret_keys, principal),
    }),
  }),
  route({
    method: 'GET',
    path: '/v1/webhooks/{id}',
    summary: 'One endpoint',
    roles: READERS,
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
    summary: 'Change an endpoint, or enable it again',
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
    summary: 'Remove an endpoint with its log',
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
    summary: 'What was sent to an endpoint and what became of it; `urls` in place of the id for every webhook_url',
    roles: READERS,
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
    summary: 'Send a delivery once more',
    roles: ['admin', 'operate'],
    answers: { 202: { description: 'It is due', schema: WebhookDelivery } },
    handle: async (gateway, { principal, params, reply }) => {
      const webhook = await endpointOf(gateway, principal.tenant, params.id ?? '');
      mustBeEnabled(webhook);
      const delivery = await redeliver(gateway.store, principal, webhook?.webhook_id ?? null, params.delivery_id ?? '');
      if (!delivery) throw notFound(params.delivery_id ?? '');
      gateway.relay.publish('due', ['deliveries']);
      return reply.code(202).send(delivery);
    },
  }),
];

import { resolveTool } from '@capstan/admission';
import type { Grant, NewGrant, Principal } from '@capstan/contracts';
import { insertGrant } from '@capstan/store';
import type { GatewayContext } from '../gateway-context.js';
import { redactComment } from './redact-comment.js';

/** One for a tool that is not there would never be used, and whoever gave it would not know why. */
export async function createGrant(gateway: GatewayContext, principal: Principal, sent: NewGrant): Promise<Grant> {
  const { store, relay, rules, catalog } = gateway;
  const { tool_id, comment } = sent;
  const grant = await insertGrant(store, principal, {
    ...sent,
    // As calls are recorded with it, also where it was named otherwise.
    ...(tool_id === undefined ? {} : { tool_id: resolveTool(catalog, tool_id).descriptor.tool_id }),
    ...(comment === undefined ? {} : { comment: redactComment(comment) }),
  });
  relay.publish('refresh', ['grants']);
  await rules.refresh();
  // What waits already may be for it.
  relay.publish('due', ['now']);
  return grant;
}

import type { Agent, Principal } from '@capstan/contracts';
import { getAgent } from '@capstan/store/agent';
import type { GatewayContext } from '../gateway-context.js';
import { notFound } from '../invocation/act-on.js';

export async function findAgent({ store }: GatewayContext, { tenant }: Principal, agent_id: string): Promise<Agent> {
  const agent = agent_id.includes('\u0000') ? undefined : await getAgent(store.db, tenant, agent_id);
  if (!agent) throw notFound(`agent ${agent_id}`);
  return agent;
}

import type { Agent, AgentChange, AgentRuntime, NewAgentInput, Provider } from '@capstan/contracts';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import type { Transport } from './transport.js';

export type Agents = {
  create(agent: NewAgentInput): Promise<Agent>;
  get(agent_id: string): Promise<Agent>;
  list(options?: PageOptions): Listing<Agent>;
  /** Changes the given fields. Lists and configuration are replaced as a whole. */
  change(agent_id: string, change: AgentChange): Promise<Agent>;
  delete(agent_id: string): Promise<void>;
  /** The system prompt and the tools to send to a provider. */
  runtime(agent_id: string, provider: Provider): Promise<AgentRuntime>;
};

export const agents = (transport: Transport): Agents => {
  const at = (agent_id: string): string => `/v1/agents/${encodeURIComponent(agent_id)}`;
  return {
    create: (agent) => transport.json('POST', '/v1/agents', { body: agent }),
    get: (agent_id) => transport.json('GET', at(agent_id)),
    list: (options = {}) => listFrom(transport, '/v1/agents', { ...options }),
    change: (agent_id, change) => transport.json('PATCH', at(agent_id), { body: change }),
    delete: (agent_id) => transport.json('DELETE', at(agent_id)),
    runtime: (agent_id, provider) => transport.json('GET', `${at(agent_id)}/runtime`, { query: { provider } }),
  };
};

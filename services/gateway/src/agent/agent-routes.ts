import { buildAgent, checkConfig, toRuntime } from '@capstan/catalog';
import { Agent, AgentChange, AgentRuntime, NewAgent, ProviderName, pageOf, SequenceQuery } from '@capstan/contracts';
import { changeAgent, createAgent, deleteAgent, listAgents } from '@capstan/store/agent';
import { z } from 'zod';
import type { GatewayContext } from '../gateway-context.js';
import { READERS, type Route, route } from '../http/route.js';
import { notFound } from '../invocation/act-on.js';
import { findAgent } from './find-agent.js';

const RuntimeQuery = z.strictObject({ provider: ProviderName.default('openai') });

/** Checks that the capabilities exist and fit together, and that they accept the configuration. */
const check =
  ({ capabilities }: GatewayContext) =>
  (agent: NewAgent): void =>
    checkConfig(capabilities.resolve(agent.capabilities), agent.config);

export const agentRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/agents',
    summary: 'Create an agent: its prompt, capabilities in order, and tools',
    roles: ['submit'],
    body: NewAgent,
    answers: { 201: { description: 'The agent', schema: Agent } },
    handle: async (gateway, { principal, body, reply }) => {
      check(gateway)(body);
      return reply.code(201).send(await createAgent(gateway.store, principal, body));
    },
  }),
  route({
    method: 'GET',
    path: '/v1/agents',
    summary: 'List agents, newest first',
    roles: READERS,
    query: SequenceQuery.strict(),
    answers: {
      200: { description: 'A page', schema: pageOf(Agent) },
    },
    handle: ({ store }, { principal, query: { limit, cursor } }) => {
      return listAgents(store.db, principal.tenant, { limit, cursor });
    },
  }),
  route({
    method: 'GET',
    path: '/v1/agents/{id}',
    summary: 'Get an agent',
    roles: READERS,
    answers: { 200: { description: 'The agent', schema: Agent } },
    handle: (gateway, { principal, params }) => findAgent(gateway, principal, params.id ?? ''),
  }),
  route({
    method: 'PATCH',
    path: '/v1/agents/{id}',
    summary: 'Change an agent; lists and configuration are replaced as a whole',
    roles: ['submit'],
    body: AgentChange,
    answers: { 200: { description: 'The agent', schema: Agent } },
    handle: async (gateway, { principal, params, body }) => {
      const changed = await changeAgent(gateway.store, principal, params.id ?? '', body, check(gateway));
      if (!changed) throw notFound(params.id ?? '');
      return changed;
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/agents/{id}',
    summary: 'Delete an agent; its calls stay on record',
    roles: ['submit'],
    answers: { 204: { description: 'Gone' } },
    handle: async ({ store }, { principal, params, reply }) => {
      if (!(await deleteAgent(store, principal, params.id ?? ''))) throw notFound(params.id ?? '');
      return reply.code(204).send();
    },
  }),
  route({
    method: 'GET',
    path: '/v1/agents/{id}/runtime',
    summary: 'Get the merged system prompt and tools of an agent, in the format of a provider',
    roles: READERS,
    query: RuntimeQuery,
    answers: { 200: { description: 'The prompt and tools to send to the provider', schema: AgentRuntime } },
    handle: async (gateway, { principal, params, query }) => {
      const agent = await findAgent(gateway, principal, params.id ?? '');
      return toRuntime(agent.agent_id, query.provider, buildAgent(agent, gateway.capabilities, gateway.catalog));
    },
  }),
];

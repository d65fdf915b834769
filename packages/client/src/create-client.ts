import { type Agents, agents } from './agent.js';
import { type Artifacts, artifacts } from './artifact.js';
import { type AtipTools, atipTools } from './atip.js';
import { type Audit, audit } from './audit.js';
import { type Call, call, type ToolTypes, type UntypedTools } from './call.js';
import { type Capabilities, capabilities } from './capability.js';
import { type RunCommand, runCommand } from './command.js';
import type { Confirm } from './confirm.js';
import { type Extensions, extensions } from './extension.js';
import { type ConnectionOptions, findConnection } from './find-connection.js';
import { type HealthChecks, healthChecks } from './health.js';
import { type Grants, grants, type Holds, holds } from './hold.js';
import { type Invocations, invocations } from './invocation.js';
import { type Keys, keys } from './key.js';
import { type Log, log } from './log.js';
import { type Logins, logins } from './login.js';
import { type McpServers, mcpServers } from './mcp-server.js';
import { type OpenApis, openApis } from './openapi.js';
import { type Policies, policies } from './policy.js';
import { type Queues, queues } from './queue.js';
import { type Quotas, quotas } from './quota.js';
import { type Records, records } from './record.js';
import { type Retentions, retentions } from './retention.js';
import { type Runs, runs } from './run.js';
import { type Schedules, schedules } from './schedule.js';
import { type Secrets, secrets } from './secret.js';
import { type Sessions, sessions } from './session.js';
import { type Statistics, statistics } from './stats.js';
import { type TenantEvents, tenantEvents } from './tenant-events.js';
import { type Tools as TakenTools, tools } from './tool.js';
import { type ToolCalls, toolCalls } from './tool-call.js';
import { type Toolsets, toolsets } from './toolset.js';
import { openTransport, type TransportOptions } from './transport.js';
import { type Webhooks, webhooks } from './webhook.js';
import { type Workers, workers } from './worker.js';

/**
 * Without a `url`, the gateway and key are found as the `capstan` command does: from `profile`, CAPSTAN_URL and CAPSTAN_API_KEY,
 * CAPSTAN_PROFILE, a local `capstan up`, or the last `capstan login`.
 */
export type ClientOptions = Omit<TransportOptions, keyof ConnectionOptions> &
  ConnectionOptions & {
    /** Called for each held call, unless the call has its own; see `call`. */
    confirm?: Confirm | undefined;
  };

/** `Tools` has the inputs and payloads of tools by id. `capstan types > capstan-tools.d.ts` generates it. */
export type Client<Tools extends ToolTypes = UntypedTools> = Invocations &
  HealthChecks &
  Logins &
  TenantEvents & {
    /** Returns the payload, or throws a typed error: Denied, Held, Failed, TimedOut, Ambiguous, Canceled. */
    call: Call<Tools>;
    runs: Runs;
    records: Records;
    log: Log;
    audit: Audit;
    holds: Holds;
    grants: Grants;
    queues: Queues;
    quotas: Quotas;
    retentions: Retentions;
    webhooks: Webhooks;
    workers: Workers;
    keys: Keys;
    mcpServers: McpServers;
    toolsets: Toolsets;
    policies: Policies;
    schedules: Schedules;
    stats: Statistics;
    secrets: Secrets;
    artifacts: Artifacts;
    tools: TakenTools;
    extensions: Extensions;
    atipTools: AtipTools;
    openApis: OpenApis;
    command: RunCommand;
    capabilities: Capabilities;
    agents: Agents;
    toolCalls: ToolCalls;
    sessions: Sessions;
    /** Closes all connections, including those with a request in progress. */
    close(): Promise<void>;
  };

/** Creates a client of one gateway. It connects with the first request. */
export const createClient = <Tools extends ToolTypes = UntypedTools>({
  confirm,
  ...options
}: ClientOptions = {}): Client<Tools> => {
  const { url, key } = findConnection(options);
  const transport = openTransport({ ...options, url, key: key?.key });
  const calls = invocations(transport);
  const held = holds(transport);
  const callAny = call(calls, held, { confirm });
  return {
    ...calls,
    // The types of ids, inputs and payloads exist only at compile time.
    call: callAny as Call<Tools>,
    ...healthChecks(transport),
    ...logins(transport),
    ...tenantEvents(transport),
    runs: runs(transport),
    records: records(transport),
    log: log(transport),
    audit: audit(transport),
    holds: held,
    grants: grants(transport),
    queues: queues(transport),
    quotas: quotas(transport),
    retentions: retentions(transport),
    webhooks: webhooks(transport),
    workers: workers(transport),
    keys: keys(transport),
    mcpServers: mcpServers(transport),
    toolsets: toolsets(transport),
    policies: policies(transport),
    schedules: schedules(transport),
    stats: statistics(transport),
    secrets: secrets(transport),
    artifacts: artifacts(transport),
    tools: tools(transport, callAny),
    extensions: extensions(transport),
    atipTools: atipTools(transport),
    openApis: openApis(transport),
    command: runCommand(transport),
    capabilities: capabilities(transport),
    agents: agents(transport),
    toolCalls: toolCalls(transport),
    sessions: sessions(transport),
    close: () => transport.close(),
  };
};

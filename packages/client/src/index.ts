export type { Agents } from './agent.js';
export type { Artifacts } from './artifact.js';
export type { AtipTools } from './atip.js';
export type { Audit } from './audit.js';
export type { Call, CallOptions, ToolTypes, UntypedTools } from './call.js';
export type { Capabilities } from './capability.js';
export type { CommandOptions, RunCommand } from './command.js';
export type { Confirm, Confirmation } from './confirm.js';
export { type Client, type ClientOptions, createClient } from './create-client.js';
export {
  Ambiguous,
  Canceled,
  CapstanError,
  Conflict,
  Denied,
  errorOfInvocation,
  errorOfProblem,
  Failed,
  Held,
  Invalid,
  NotFound,
  QuotaExceeded,
  TimedOut,
  Unauthorized,
  Unavailable,
} from './errors.js';
export { parseEventStream, type StreamMessage } from './event-stream/parse-event-stream.js';
export type { Extensions } from './extension.js';
export type { EventsOptions } from './follow-events.js';
export type { HealthChecks } from './health.js';
export type { Grants, Holds, ReleaseOptions } from './hold.js';
export type { InvocationQuery, Invocations, SubmitOptions } from './invocation.js';
export { isTerminal } from './is-terminal.js';
export type { Keys } from './key.js';
export type { Listing, PageOptions } from './listing.js';
export type { Log } from './log.js';
export type { Logins } from './login.js';
export type { McpServers } from './mcp-server.js';
export type { OpenApis } from './openapi.js';
export type { Policies } from './policy.js';
export type { Queues } from './queue.js';
export type { Quotas } from './quota.js';
export type { Records } from './record.js';
export type { Retentions } from './retention.js';
export type { RunQuery, Runs } from './run.js';
export type { Schedules } from './schedule.js';
export type { SecretScope, Secrets } from './secret.js';
export { Fatal, Retryable } from './serve/failures.js';
export type { StandardSchema } from './serve/schema.js';
export { type ServeOptions, serveTools, type ToolWorker } from './serve/serve-tools.js';
export type { TestedTool } from './serve/test-tool.js';
export { type AnyTool, type OwnTool, type ToolContext, tool } from './serve/tool.js';
export type { Sessions } from './session.js';
export { startTestCapstan, type TestCapstan, type TestCapstanOptions } from './start-test-capstan.js';
export type { Statistics } from './stats.js';
export type { TenantEvents } from './tenant-events.js';
export type { CallableTool, TakeTools, ToolQuery, Tools } from './tool.js';
export type { ToolCalls } from './tool-call.js';
export type { Toolsets } from './toolset.js';
export { UnreachableError } from './unreachable-error.js';
export type { WaitOptions } from './wait-for.js';
export type { Webhooks } from './webhook.js';
export type { Workers } from './worker.js';

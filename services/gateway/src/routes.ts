import { agentRoutes } from './agent/agent-routes.js';
import { artifactRoutes } from './artifact/artifact-routes.js';
import { atipRoutes } from './atip/atip-routes.js';
import { auditRoutes } from './audit/audit-routes.js';
import { bundleRoutes } from './bundle/bundle-routes.js';
import { capabilityRoutes } from './capability/capability-routes.js';
import { commandRoutes } from './command/command-routes.js';
import { eventRoutes } from './event/event-routes.js';
import { extensionRoutes } from './extension/extension-routes.js';
import { healthRoutes } from './health/health-routes.js';
import { holdRoutes } from './hold/hold-routes.js';
import type { Route } from './http/route.js';
import { invocationRoutes } from './invocation/invocation-routes.js';
import { keyRoutes } from './key/key-routes.js';
import { logRoutes } from './log/log-routes.js';
import { loginRoutes } from './login/login-routes.js';
import { oidcRoutes } from './login/oidc-routes.js';
import { mcpRoutes } from './mcp-endpoint/mcp-routes.js';
import { protectedResourceRoutes } from './mcp-endpoint/protected-resource.js';
import { mcpLoginRoutes } from './mcp-sources/mcp-login-routes.js';
import { mcpServerRoutes } from './mcp-sources/mcp-server-routes.js';
import { openApiRoutes } from './openapi/openapi-routes.js';
import { policyRoutes } from './policy/policy-routes.js';
import { poolRoutes } from './pool/pool-routes.js';
import { queueRoutes } from './queue/queue-routes.js';
import { quotaRoutes } from './quota/quota-routes.js';
import { replayRoutes } from './replay/replay-routes.js';
import { reportRoutes } from './report/report-routes.js';
import { retentionRoutes } from './retention/retention-routes.js';
import { runRoutes } from './run/run-routes.js';
import { scheduleRoutes } from './schedule/schedule-routes.js';
import { secretRoutes } from './secret/secret-routes.js';
import { sessionRoutes } from './session/session-routes.js';
import { statsRoutes } from './stats/stats-routes.js';
import { toolRoutes } from './tool/tool-routes.js';
import { toolCallRoutes } from './tool-call/tool-call-routes.js';
import { toolsetRoutes } from './toolset/toolset-routes.js';
import { verifyRoutes } from './verify/verify-routes.js';
import { webhookRoutes } from './webhook/webhook-routes.js';

/** All routes except /metrics, /openapi.json and /reference. */
export const ROUTES: Route[] = [
  ...healthRoutes,
  ...loginRoutes,
  ...oidcRoutes,
  ...eventRoutes,
  ...statsRoutes,
  ...invocationRoutes,
  ...runRoutes,
  ...verifyRoutes,
  ...logRoutes,
  ...bundleRoutes,
  ...replayRoutes,
  ...reportRoutes,
  ...auditRoutes,
  ...scheduleRoutes,
  ...holdRoutes,
  ...queueRoutes,
  ...poolRoutes,
  ...keyRoutes,
  ...mcpServerRoutes,
  ...mcpLoginRoutes,
  ...mcpRoutes,
  ...protectedResourceRoutes,
  ...policyRoutes,
  ...secretRoutes,
  ...toolRoutes,
  ...toolsetRoutes,
  ...extensionRoutes,
  ...atipRoutes,
  ...openApiRoutes,
  ...commandRoutes,
  ...artifactRoutes,
  ...capabilityRoutes,
  ...agentRoutes,
  ...toolCallRoutes,
  ...sessionRoutes,
  ...webhookRoutes,
  ...quotaRoutes,
  ...retentionRoutes,
];

/** Names for routes whose path does not give a good one. */
const NAMES: Record<string, string> = {
  'POST /v1/invocations': 'submitInvocation',
  'POST /v1/invocations/bulk': 'submitInvocations',
  'POST /v1/invocations/cancel': 'cancelInvocations',
  'POST /v1/invocations/redrive': 'redriveInvocations',
  'POST /v1/runs': 'submitRun',
  'POST /v1/commands': 'runCommand',
  'POST /v1/tool-calls': 'submitToolCalls',
  'POST /v1/extensions': 'installExtension',
  'POST /v1/atip-tools': 'addAtipTool',
  'POST /v1/mcp-servers': 'addMcpServer',
  'POST /v1/bundles': 'importBundle',
  'POST /v1/openapi': 'addOpenApiTools',
  'GET /v1/openapi': 'listOpenApiTools',
  'GET /v1/openapi/{name}': 'getOpenApiTools',
  'DELETE /v1/openapi/{name}': 'deleteOpenApiTools',
  'POST /v1/policy/explain': 'explainDecision',
  'POST /v1/policy/what-if': 'tryPolicy',
  'POST /v1/policy/propose': 'proposeRule',
  'POST /v1/webhooks/secret': 'createWebhookSecret',
  'POST /v1/webhooks/{id}/slack': 'takeSlackAction',
  'GET /v1/webhooks/{id}/links/{token}': 'followHoldLink',
  'GET /v1/audit': 'listAudit',
  'GET /v1/audit/verify': 'verifyAudit',
  'GET /v1/runs/{id}/verify': 'verifyRun',
  'GET /v1/invocations/{id}/events': 'streamInvocationEvents',
  'GET /v1/runs/{id}/events': 'streamRunEvents',
  'GET /v1/events': 'streamEvents',
  'GET /v1/holds/{id}/similar': 'listSimilarHolds',
  'GET /v1/login/options': 'getLoginOptions',
  'GET /v1/login/oidc': 'logInWithOidc',
  'GET /v1/login/oidc/callback': 'finishOidcLogin',
  'GET /v1/retention': 'listRetentions',
  'GET /v1/quotas/usage': 'getQuotaUsage',
  'GET /v1/log/tile/{path}': 'getLogTile',
  'GET /v1/log/proofs/{id}': 'getLogProof',
  'GET /v1/sessions/{id}/files/{path}': 'readSessionFile',
  'PUT /v1/sessions/{id}/files/{path}': 'writeSessionFile',
  'DELETE /v1/sessions/{id}/files/{path}': 'deleteSessionFile',
  'GET /v1/whoami': 'whoAmI',
  'POST /v1/login': 'logIn',
  'POST /v1/logout': 'logOut',
  'GET /healthz': 'getHealth',
  'GET /readyz': 'getReadiness',
  'GET /metrics': 'getMetrics',
  'GET /openapi.json': 'getOpenApi',
  'GET /reference': 'getReference',
  'POST /mcp': 'postMcp',
  'GET /mcp': 'streamMcp',
  'DELETE /mcp': 'endMcpSession',
  'GET /.well-known/oauth-protected-resource': 'getProtectedResource',
  'GET /.well-known/oauth-protected-resource/mcp': 'getMcpProtectedResource',
  'GET /.well-known/oauth-protected-resource/mcp/{toolset}': 'getToolsetProtectedResource',
};

const ON_ONE: Record<string, string> = { GET: 'get', PUT: 'put', PATCH: 'update', DELETE: 'delete', POST: 'create' };

/** `GET /v1/runs/{id}/steps` → `listRunSteps`, `POST /v1/runs/{id}/cancel` → `cancelRun`. */
export function operationName(method: string, path: string): string {
  const named = NAMES[`${method} ${path}`];
  if (named !== undefined) return named;
  const parts = path
    .replace(/^\/v1\//, '')
    .split('/')
    .filter(Boolean);
  const statics = parts.filter((part) => !part.startsWith('{'));
  const last = statics.at(-1) ?? '';
  const owners = statics
    .slice(0, -1)
    .map((part) => pascal(singular(part)))
    .join('');
  if (parts.at(-1)?.startsWith('{')) return `${ON_ONE[method]}${owners}${pascal(singular(last))}`;
  const whole = parts.length === statics.length;
  if (method === 'GET') return `${isPlural(last) ? 'list' : 'get'}${owners}${pascal(last)}`;
  if (method !== 'POST') return `${ON_ONE[method]}${owners}${pascal(last)}`;
  if (isPlural(last)) return `${whole ? 'create' : 'add'}${owners}${pascal(singular(last))}`;
  // The last part is a verb, applied to one resource or to the whole collection.
  return `${camel(last)}${whole ? statics.slice(0, -1).map(pascal).join('') : owners}`;
}

/** The sections of the API reference. */
export const TAGS = {
  Invocations: 'Submit, inspect, cancel and repeat calls.',
  Runs: 'Plans and bulks: submit, follow, report, replay, verify.',
  Holds: 'Calls that wait for approval, and approvals given in advance.',
  Tools: 'Tools and their sources.',
  Policies: 'Rules that allow, hold or forbid calls. Test a policy before you put it in force.',
  Quotas: 'Limits on concurrency, rate, run time and cost.',
  Agents: 'Prompts with tools, slash commands, sessions, and calls in the formats of model providers.',
  Operations: 'Queues, workers, schedules, webhooks, retention, health.',
  Record: 'The audit, the log of everything that ended, bundles and artifacts.',
  Access: 'Keys, logins and secrets.',
} as const;

const TAG_OF: Record<string, keyof typeof TAGS> = {
  ...of('Invocations', 'invocations'),
  ...of('Runs', 'runs'),
  ...of('Holds', 'holds', 'grants'),
  ...of('Tools', 'tools', 'extensions', 'mcp-servers', 'atip-tools', 'openapi', 'pools', 'capabilities'),
  ...of('Policies', 'policies', 'policy'),
  ...of('Quotas', 'quotas'),
  ...of('Agents', 'agents', 'commands', 'sessions', 'tool-calls', 'mcp'),
  ...of('Record', 'audit', 'log', 'bundles', 'artifacts'),
  ...of('Access', 'keys', 'login', 'logins', 'logout', 'whoami', 'secrets', '.well-known'),
};

function of<Tag extends keyof typeof TAGS>(tag: Tag, ...names: string[]): Record<string, Tag> {
  return Object.fromEntries(names.map((name) => [name, tag]));
}

export const tagOf = (path: string): keyof typeof TAGS =>
  TAG_OF[path.split('/').find((part) => part !== '' && part !== 'v1') ?? ''] ?? 'Operations';

const isPlural = (word: string): boolean => /[^s]s$/.test(word);
const singular = (word: string): string =>
  word.endsWith('ies') ? `${word.slice(0, -3)}y` : isPlural(word) ? word.slice(0, -1) : word;
const camel = (word: string): string => word.replace(/[-_.](\w)/g, (_, letter: string) => letter.toUpperCase());
const pascal = (word: string): string => camel(word).replace(/^\w/, (letter) => letter.toUpperCase());

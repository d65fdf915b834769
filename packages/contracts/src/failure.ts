/**
 * Every kind of failure of a request or a tool: its code, its HTTP status, whether a retry can help, and a suggestion.
 */
const FAILURES = {
  // 1xxx policy
  POLICY_DENIED: [
    1001,
    403,
    false,
    'Add a rule that allows this tool with PUT /v1/policies/{name}, or ask an admin for one.',
  ],
  POLICY_INVALID: [1002, 400, false, 'Correct the policy document at the place named.'],
  POLICY_CHANGED: [1003, 403, false, 'The decision no longer holds at run time; submit the invocation again.'],
  EGRESS_DENIED: [
    1010,
    403,
    false,
    'Call a public address that the policy names; the policies of the tenant and of the installation can also set deny_private_ips: false.',
  ],
  SHELL_NOT_GRANTED: [
    1011,
    403,
    false,
    'Call the program itself with its arguments, or let the policies of the tenant and of the installation (_installation) set limits: [{match, shell: true}].',
  ],
  ARGUMENTS_NOT_ALLOWED: [
    1013,
    403,
    false,
    'Use arguments that the policy names for this program; where an entry could allow these, the error contains it.',
  ],
  SECRET_NOT_GRANTED: [
    1012,
    403,
    false,
    'Add the tool or the host to the lists of the secret: capstan secret put <name> --tool … --host ….',
  ],
  PATH_DENIED: [
    1014,
    403,
    false,
    'Name a file inside the workspace that the policy allows, by a path that no link leads out of.',
  ],
  WRITE_NOT_GRANTED: [
    1015,
    403,
    false,
    'Send a statement that only reads, or let the policy set limits: [{match, write: true}] for this tool.',
  ],
  // 2xxx tool
  UNKNOWN_TOOL: [2001, 404, false, 'List the tools with capstan tools, or GET /v1/tools.'],
  INVALID_INPUTS: [
    2002,
    422,
    false,
    'Correct the inputs; capstan tools <tool_id>, or GET /v1/tools/{id}, shows what the tool takes.',
  ],
  TOOL_ERROR: [2003, 502, false, 'The tool ran and reported an error; its message says why.'],
  TOOL_TIMEOUT: [2004, 504, false, 'Raise timeout_ms, or give the tool less to do.'],
  EXECUTABLE_NOT_FOUND: [2005, 502, false, 'Install the executable on the worker, or correct its name.'],
  WORKER_LOST: [2006, 502, true, 'The worker ended during the run; see the attempts.'],
  CANCELED: [2007, 409, false, 'Submit the invocation again if it is still wanted.'],
  RUNNER_FAILED: [2008, 502, true, 'The runner itself failed; see the worker log.'],
  OUTCOME_UNKNOWN: [2009, 409, false, 'Find out whether the tool took effect, then resolve or redrive the invocation.'],
  EGRESS_FAILED: [
    2020,
    502,
    true,
    'The server was unreachable or closed the connection; try again, or check the address.',
  ],
  MCP_SERVER_FAILED: [2030, 502, true, 'GET /v1/mcp-servers has its last error; the next call starts it again.'],
  INPUT_REQUIRED: [2031, 409, false, 'Answer the questions of its hold: capstan answer <id>.'],
  SANDBOX_UNAVAILABLE: [
    2011,
    502,
    false,
    'Install bubblewrap on the worker, or let the policies of the tenant and of the installation (_installation) set limits: [{match, sandbox: preferred}].',
  ],
  INTERACTIVE_NOT_SUPPORTED: [
    2012,
    422,
    false,
    'Use a command that does not prompt, or pass tty: true and the answers as stdin.',
  ],
  TOOL_DISABLED: [
    2013,
    403,
    false,
    'Ask an admin to enable it: capstan extension enable <id>, or capstan mcp enable <name>.',
  ],
  OUTPUT_INVALID: [
    2014,
    502,
    false,
    'Correct the tool or its output_schema; a policy makes it a warning with limits: [{match, output_schema: warn}].',
  ],
  NOT_CONFIGURED: [2015, 502, false, 'Set what the error names in the environment of the worker, and restart it.'],
  // 3xxx plan or request
  MALFORMED_JSON: [3001, 400, false, 'Send a valid JSON body.'],
  INVALID_REQUEST: [3002, 400, false, 'Correct the fields named in errors; /openapi.json has the schema.'],
  BODY_TOO_LARGE: [3003, 413, false, 'Send less, or raise CAPSTAN_BODY_LIMIT on the gateway.'],
  NOT_FOUND: [3004, 404, false, 'Check the id and the tenant of the key.'],
  ILLEGAL_STATE: [3005, 409, false, 'Look at the current status first.'],
  IDEMPOTENCY_CONFLICT: [3006, 409, false, 'Use a new idempotency_key for a different call.'],
  UNSUPPORTED_MEDIA_TYPE: [3007, 415, false, 'Send Content-Type: application/json.'],
  NO_SUCH_ROUTE: [3008, 404, false, '/openapi.json lists the routes.'],
  EXPIRED: [3009, 410, false, 'Raise expires_in_ms, or add workers for this runner type.'],
  PLAN_INVALID: [3010, 400, false, 'Correct the plan at the place named.'],
  HEADERS_TOO_LARGE: [3011, 431, false, 'Send fewer or smaller headers.'],
  REQUEST_TIMEOUT: [3012, 408, true, 'Send the request again, in one go.'],
  METHOD_NOT_ALLOWED: [3013, 405, false, 'Use a method that the Allow header names.'],
  PRECONDITION_FAILED: [3014, 412, false, 'Read the current version, apply your change to it, and send its ETag.'],
  // 4xxx replay
  RUN_NOT_OVER: [4001, 409, true, 'Wait until the run has ended, or cancel it.'],
  PLAN_MISMATCH: [4002, 409, false, 'Replay the run that this plan belongs to, or leave plan_hash out.'],
  RECORD_BROKEN: [4003, 409, false, 'GET /v1/runs/{id}/verify lists what was changed.'],
  BUNDLE_INVALID: [4004, 400, false, 'Send a file from GET /v1/runs/{id}/bundle, unchanged.'],
  NO_SUCH_STEP: [4005, 404, false, 'GET /v1/runs/{id}/steps lists the steps.'],
  // 5xxx storage
  STORAGE_UNAVAILABLE: [5001, 503, true, 'Try again shortly; /readyz says when Postgres is back.'],
  INTERNAL: [5002, 500, true, 'Internal error; find it in the gateway log by the request id.'],
  OVERLOADED: [5003, 503, true, 'Try again after Retry-After, or add gateways.'],
  STORAGE_REFUSED: [5004, 500, false, 'The value cannot be stored; see the detail.'],
  // 6xxx auth
  UNAUTHENTICATED: [6001, 401, false, 'Send Authorization: Bearer <key>.'],
  ROLE_MISSING: [6002, 403, false, 'Use a key that has the role named, or ask an admin for one.'],
  TENANT_FORBIDDEN: [6003, 403, false, 'Only an admin of the default tenant manages other tenants.'],
  CALLER_REFUSED: [6004, 403, false, 'Call the gateway by one of its own host names, and from its own pages only.'],
  // 7xxx quota
  QUOTA_EXCEEDED: [7001, 429, true, 'Wait for Retry-After, or ask for a larger quota.'],
} as const satisfies Record<string, readonly [number: number, status: number, retryable: boolean, suggestion: string]>;

export type FailureName = keyof typeof FAILURES;

export type FailureOptions = {
  detail: string;
  suggestion?: string;
  retryable?: boolean;
  cause?: unknown;
  /** Extra members of the problem document. */
  context?: Record<string, unknown>;
  headers?: Record<string, string>;
};

export class Failure extends Error {
  override readonly name = 'Failure';
  readonly kind: FailureName;
  readonly code: number;
  readonly status: number;
  readonly retryable: boolean;
  readonly suggestion: string;
  readonly context: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(kind: FailureName, options: FailureOptions) {
    super(options.detail, options.cause === undefined ? undefined : { cause: options.cause });
    const [code, status, retryable, suggestion] = FAILURES[kind];
    this.kind = kind;
    this.code = code;
    this.status = status;
    this.retryable = options.retryable ?? retryable;
    this.suggestion = options.suggestion ?? suggestion;
    this.context = options.context ?? {};
    this.headers = options.headers ?? {};
  }
}

/** All failures in order of their codes, for the error reference. */
export const listFailures = () =>
  Object.entries(FAILURES)
    .map(([kind, [code, status, retryable, suggestion]]) => ({ kind, code, status, retryable, suggestion }))
    .sort((one, other) => one.code - other.code);

export const codeOf = (kind: FailureName): number => FAILURES[kind][0];

const KINDS = new Map<number, string>(listFailures().map(({ code, kind }) => [code, kind]));

/** The name that belongs to a code. */
export const kindOf = (code: number): string | undefined => KINDS.get(code);

/** RFC 9457 problem document. */
export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: number;
  suggestion: string;
  [context: string]: unknown;
};

/** More than anybody corrects before trying again. A body of a megabyte may have a hundred thousand, each longer than its cause. */
const MAX_ERRORS = 100;

const firstErrors = ({ errors }: Failure['context']): { errors?: unknown[] } =>
  Array.isArray(errors) ? { errors: errors.slice(0, MAX_ERRORS) } : {};

export const toProblem = (failure: Failure): Problem => ({
  ...failure.context,
  ...firstErrors(failure.context),
  type: `urn:capstan:problem:${failure.kind.toLowerCase()}`,
  title: failure.kind.toLowerCase().replaceAll('_', ' '),
  status: failure.status,
  detail: failure.message,
  code: failure.code,
  suggestion: failure.suggestion,
});

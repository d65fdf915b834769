import { createEgress, type Egress } from '@capstan/egress';
import { boundInputs } from '../bound-inputs.js';
import type { Call, Runner, RunOutcome, ToolFailure } from '../runner.js';
import { apiCall } from './api-call.js';
import type { ApiContext, ApiTool } from './api-context.js';
import { boundRequest } from './bound-request.js';
import { toOutcome } from './failures.js';
import { type Converter, createConverter } from './html/create-converter.js';
import { httpGet } from './http-get.js';
import { createWebFetch } from './web-fetch.js';

export type ApiRunnerOptions = { egress?: Egress; web_fetch?: ApiTool; converter?: Converter };

/** Calls HTTP APIs. Connections are pooled by origin while the runner exists. */
export function createApiRunner({
  egress = createEgress(),
  web_fetch = createWebFetch(),
  converter = createConverter(),
}: ApiRunnerOptions = {}): Runner {
  const tools = new Map<string, ApiTool>([
    ['api.call', apiCall],
    ['http.get', httpGet],
    ['cap:web_fetch:web_fetch', web_fetch],
  ]);

  const dispatch = (context: ApiContext): Promise<RunOutcome> => {
    const { descriptor, inputs } = context.call;
    const { binding } = descriptor;
    if (binding.kind === 'request') return boundRequest(context, binding, inputs);
    const bound = boundInputs(context.call);
    const tool = tools.get(bound.action);
    return tool ? tool(context, bound.inputs) : Promise.resolve(unknownTool(descriptor.tool_id));
  };

  return {
    type: 'api',
    run: async (call: Call): Promise<RunOutcome> => {
      const domains = new Set<string>();
      const outcome = await dispatch({ call, egress, converter, domains }).catch((error: unknown) =>
        call.signal.aborted ? STOPPED : toOutcome(error),
      );
      const said = outcome.success ? outcome : { ...outcome, error: call.redact.text(outcome.error) };
      return { ...said, facts: { observed: { domains: [...domains] } } };
    },
    close: async () => {
      await Promise.all([egress.close(), converter.close()]);
    },
  };
}

/** The worker knows why it stopped the call. The facts say how far it had come. */
const STOPPED: ToolFailure = { success: false, error: 'stopped', kind: 'CANCELED', retryable: false };

const unknownTool = (tool_id: string): ToolFailure => ({
  success: false,
  error: `the api runner has no tool ${tool_id}`,
  kind: 'UNKNOWN_TOOL',
  retryable: false,
});

import type {
  CatalogSource,
  Json,
  JsonObject,
  Risk,
  RunnerType,
  SideEffect,
  Tool,
  ToolSource,
  Trust,
} from '@capstan/contracts';
import type { CallOptions } from './call.js';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import { createNames, matching } from './tool-names.js';
import type { Transport } from './transport.js';

export type ToolQuery = {
  /** Words to search for, best match first. */
  q?: string | undefined;
  source?: ToolSource | ToolSource[] | undefined;
  runner?: RunnerType | RunnerType[] | undefined;
  risk_max?: Risk | undefined;
  exclude_side_effects?: SideEffect[] | undefined;
  trust_min?: Trust | undefined;
  /** By default only enabled tools; `false` for disabled ones, or `any`. */
  enabled?: boolean | 'any' | undefined;
};

/** A tool that a program or a model calls. */
export type CallableTool = {
  tool_id: string;
  /** A name that models accept: at most 64 letters, digits, dashes and underscores. */
  name: string;
  description: string;
  input_schema: JsonObject;
  output_schema: JsonObject | undefined;
  tool: Tool;
  /** Like `call()` of the client, in the session given when the tools were fetched. */
  call(inputs: unknown, options?: CallOptions): Promise<Json>;
};

export type TakeTools = ToolQuery & {
  /** Ids with `*` for any part: `app:billing:*`. */
  match?: string | readonly string[] | undefined;
  session_id?: string | undefined;
};

export type Tools = {
  /** Tools to call: `await capstan.tools({ match: 'app:billing:*', session_id })`. */
  (take?: TakeTools): Promise<CallableTool[]>;
  /** `unavailable` says why the tool cannot be called, if so. */
  get(tool_id: string): Promise<Tool & { unavailable: string | null }>;
  list(filter?: ToolQuery & PageOptions): Listing<Tool>;
  /** Makes every process reload its tools. */
  refresh(): Promise<{ tools: number; sources: CatalogSource[] }>;
};

type CallAny = (tool_id: string, inputs: unknown, options?: CallOptions) => Promise<unknown>;

export const tools = (transport: Transport, call: CallAny): Tools => {
  const list = (filter: ToolQuery & PageOptions = {}): Listing<Tool> => listFrom(transport, '/v1/tools', { ...filter });
  const take = async ({ match, session_id, ...query }: TakeTools = {}): Promise<CallableTool[]> => {
    const isMeant = matching(match);
    const nameOf = createNames();
    const taken: CallableTool[] = [];
    for await (const tool of list(query))
      if (isMeant(tool.tool_id))
        taken.push({
          tool_id: tool.tool_id,
          name: nameOf(tool.tool_id),
          description: tool.description,
          input_schema: tool.input_schema,
          output_schema: tool.output_schema,
          tool,
          call: async (inputs, options) => (await call(tool.tool_id, inputs, { session_id, ...options })) as Json,
        });
    return taken;
  };
  return Object.assign(take, {
    get: (tool_id: string) =>
      transport.json<Tool & { unavailable: string | null }>('GET', `/v1/tools/${encodeURIComponent(tool_id)}`),
    list,
    refresh: () => transport.json<{ tools: number; sources: CatalogSource[] }>('POST', '/v1/tools/refresh'),
  });
};

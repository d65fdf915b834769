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
import type { Transport } from './transport.js';

export type ToolQuery = {
  /** Words to look for; the best match comes first. */
  q?: string | undefined;
  source?: ToolSource | ToolSource[] | undefined;
  runner?: RunnerType | RunnerType[] | undefined;
  risk_max?: Risk | undefined;
  exclude_side_effects?: SideEffect[] | undefined;
  trust_min?: Trust | undefined;
  /** Those that can be called by default; `false` for those that are switched off, or `any`. */
  enabled?: boolean | 'any' | undefined;
};

/** A tool that a program or a model calls. */
export type CallableTool = {
  tool_id: string;
  /** Letters, digits, dash and underscore, at most 64: what models take as a name. */
  name: string;
  description: string;
  input_schema: JsonObject;
  output_schema: JsonObject | undefined;
  tool: Tool;
  /** As `call()` of the client, in the session that the tools were taken for. */
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
  /** `unavailable` says why it cannot be called, when it cannot. */
  get(tool_id: string): Promise<Tool & { unavailable: string | null }>;
  list(filter?: ToolQuery & PageOptions): Listing<Tool>;
  /** Has every process look again at what tools there are. */
  refresh(): Promise<{ tools: number; sources: CatalogSource[] }>;
};

type CallAny = (tool_id: string, inputs: unknown, options?: CallOptions) => Promise<unknown>;

export const tools = (transport: Transport, call: CallAny): Tools => {
  const list = (filter: ToolQuery & PageOptions = {}): Listing<Tool> => listFrom(transport, '/v1/tools', { ...filter });
  const take = async ({ match, session_id, ...query }: TakeTools = {}): Promise<CallableTool[]> => {
    const patterns = match === undefined ? null : [match].flat().map(toPattern);
    const taken: CallableTool[] = [];
    for await (const tool of list(query))
      if (patterns?.some((pattern) => pattern.test(tool.tool_id)) ?? true)
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

const toPattern = (match: string): RegExp => new RegExp(`^${match.split('*').map(literally).join('.*')}$`);
const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
const nameOf = (tool_id: string): string => tool_id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(-64);

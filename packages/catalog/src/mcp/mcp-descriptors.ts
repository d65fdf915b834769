import { type Descriptor, matchesWildcard, type NewMcpServer, type Trust } from '@capstan/contracts';
import { inferDanger } from '../infer/infer-danger.js';
import { cluesInWords } from '../infer/words.js';
import { concludeMcpEffects } from './mcp-effects.js';
import { headerFault } from './mcp-headers.js';
import { McpTool } from './mcp-tool.js';
import { mcpTier, mcpTrust } from './mcp-trust.js';

/** The descriptors for a server's list of tools. An unusable tool is reported and does not affect the others. */
export type McpListing = { descriptors: Descriptor[]; skipped: { tool: string; why: string }[] };

export function toMcpDescriptors(server: NewMcpServer, listed: readonly unknown[]): McpListing {
  const descriptors = new Map<string, Descriptor>();
  const skipped: McpListing['skipped'] = [];
  listed.forEach((one, index) => {
    const parsed = McpTool.safeParse(one);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      skipped.push({ tool: nameOf(one) ?? `number ${index + 1}`, why: `${issue?.path.join('.')}: ${issue?.message}` });
      return;
    }
    if (!isChosen(server, parsed.data.name)) return;
    const fault = server.url === undefined ? null : headerFault(parsed.data.inputSchema);
    if (fault !== null) {
      skipped.push({ tool: parsed.data.name, why: fault });
      return;
    }
    const descriptor = toDescriptor(server, parsed.data);
    if (descriptors.has(descriptor.tool_id)) skipped.push({ tool: parsed.data.name, why: 'it is listed twice' });
    else descriptors.set(descriptor.tool_id, descriptor);
  });
  return { descriptors: [...descriptors.values()], skipped };
}

/** Denied tools are left out even if a pattern allows them. */
function isChosen({ tools = {} }: NewMcpServer, name: string): boolean {
  const matches = (patterns: readonly string[]) => patterns.some((pattern) => matchesWildcard(pattern, name));
  return !matches(tools.deny ?? []) && (tools.allow === undefined || matches(tools.allow));
}

function toDescriptor(server: NewMcpServer, tool: McpTool): Descriptor {
  const trust = mcpTrust(server);
  return {
    tool_id: `mcp:${server.name}:${tool.name}`,
    name: tool.name,
    description: tool.description ?? tool.title ?? '',
    source: 'mcp',
    origin: server.name,
    runner: 'mcp',
    binding: { kind: 'mcp', server: server.name, tool: tool.name, ...taskOf(server, tool) },
    input_schema: tool.inputSchema,
    output_schema: {
      type: 'object',
      properties: {
        content: { type: 'array', items: { type: 'object' } },
        ...(tool.outputSchema ? { structuredContent: tool.outputSchema } : {}),
      },
    },
    trust,
    ...dangerOf(tool, trust, mcpTier(server) === 'local'),
    ...(server.timeout_ms === undefined ? {} : { timeout_ms: server.timeout_ms }),
  };
}

/** As the operator or else the server declares it: the newest protocol has no field for it. */
function taskOf({ task_support = {} }: NewMcpServer, { name, execution }: McpTool): { task?: 'optional' | 'required' } {
  const said = Object.entries(task_support).find(([pattern]) => matchesWildcard(pattern, name))?.[1];
  const task = said ?? execution?.taskSupport;
  return task === 'optional' || task === 'required' ? { task } : {};
}

/** The annotations of a tool and the clues in its words. The stricter wins. */
function dangerOf({ name, description = '', annotations = {}, inputSchema }: McpTool, trust: Trust, local: boolean) {
  const { effects, inferred, ...declared } = concludeMcpEffects(annotations, trust, local);
  const clues = cluesInWords({ name, description, input_schema: inputSchema });
  // Hints do not declare a risk. Only the read-only hint of a trusted server outweighs the verb.
  const readsOnly = effects.reversible;
  const danger = inferDanger(declared, readsOnly ? clues : clues.map((clue) => ({ ...clue, weak: false })));
  return { effects, ...danger, inferred: [...inferred, ...danger.inferred] };
}

const nameOf = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string'
    ? value.name
    : undefined;

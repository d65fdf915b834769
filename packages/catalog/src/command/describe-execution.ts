import type { Descriptor, JsonObject } from '@capstan/contracts';

/** Describes an execution for auditors: the action of a tool, and the command line as far as it is known. */
export function describeExecution(
  { tool_id, binding }: Pick<Descriptor, 'tool_id' | 'binding'>,
  inputs: JsonObject,
): { action: string; command: string | null } {
  const action = tool_id.slice(tool_id.lastIndexOf(':') + 1);
  switch (binding.kind) {
    case 'command':
      return { action: binding.action, command: [binding.executable, ...(binding.argv ?? [binding.action])].join(' ') };
    case 'atip':
      return { action, command: [binding.executable, ...binding.path].join(' ') };
    case 'request':
      return { action, command: `${binding.method} ${binding.url ?? ''}`.trim() };
    case 'action':
      return { action, command: binding.action };
    case 'mcp':
      return { action: binding.tool, command: null };
    case 'app':
      return { action: binding.id, command: null };
    case 'native': {
      const { cmd } = inputs;
      return { action, command: Array.isArray(cmd) ? cmd.filter((part) => typeof part === 'string').join(' ') : null };
    }
  }
}

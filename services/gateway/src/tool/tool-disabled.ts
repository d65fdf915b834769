import { Failure } from '@capstan/contracts';

/** For calls of a tool whose extension or MCP server is disabled. */
export function toolDisabled(tool_id: string, context: Record<string, unknown> = {}): Failure {
  const [source, origin] = tool_id.split(':');
  return new Failure('TOOL_DISABLED', {
    detail: `${tool_id} is disabled.`,
    suggestion: `Ask an admin to enable it: capstan ${source === 'mcp' ? 'mcp' : 'extension'} enable ${origin}.`,
    context,
  });
}

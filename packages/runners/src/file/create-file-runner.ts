import type { Runner } from '../runner.js';
import { SESSION_TOOLS } from './session-tools.js';
import { createWorkspaceTools, type WorkspaceOptions } from './workspace-tools.js';

/** Files of a session (in Postgres, through the call's session) and files of the workspace (on this machine's disk). */
export const createFileRunner = (options: WorkspaceOptions): Runner => {
  const tools = new Map([...SESSION_TOOLS, ...createWorkspaceTools(options)]);
  return {
    type: 'file',
    run: async (call) => {
      const tool = tools.get(call.descriptor.tool_id);
      if (tool) return tool(call);
      const error = `the file runner has no tool ${call.descriptor.tool_id}`;
      return { success: false, error, kind: 'UNKNOWN_TOOL', retryable: false };
    },
  };
};

import type { JsonObject } from '@capstan/contracts';
import { boundInputs } from '../bound-inputs.js';
import type { Call, Runner } from '../runner.js';
import { SESSION_TOOLS } from './session-tools.js';
import { createWorkspaceTools, type WorkspaceOptions } from './workspace-tools.js';

/** Handles files of a session (in Postgres, through the call's session) and of the workspace (on this machine's disk). */
export const createFileRunner = (options: WorkspaceOptions): Runner => {
  const tools = new Map([...SESSION_TOOLS, ...createWorkspaceTools(options)]);
  return {
    type: 'file',
    run: async (call) => {
      const { action, inputs } = boundInputs(call);
      const tool = tools.get(action);
      if (tool) return tool(inputs === call.inputs ? call : withInputs(call, inputs));
      const error = `the file runner has no tool ${call.descriptor.tool_id}`;
      return { success: false, error, kind: 'UNKNOWN_TOOL', retryable: false };
    },
  };
};

/** `signal` and `session` are lazy getters, so they are forwarded instead of copied. */
const withInputs = (call: Call, inputs: JsonObject): Call => Object.create(call, { inputs: { value: inputs } });

import type { Runner, ToolFailure } from '../runner.js';
import type { BuiltinTool } from './builtin-tool.js';
import { createCurrentTime } from './current-time.js';
import { add, divide, multiply, subtract } from './math.js';

/** Runs pure tools inside of the worker, and answers without a promise: tens of thousands a second pass here. */
export const createBuiltinRunner = ({ clock = () => new Date() }: { clock?: () => Date } = {}): Runner => {
  const tools = new Map<string, BuiltinTool>([
    ['cap:current_time:get_current_time', createCurrentTime(clock)],
    ['cap:test_math:add', add],
    ['cap:test_math:subtract', subtract],
    ['cap:test_math:multiply', multiply],
    ['cap:test_math:divide', divide],
  ]);
  return {
    type: 'builtin',
    run: ({ descriptor, inputs }) => tools.get(descriptor.tool_id)?.(inputs) ?? unknownTool(descriptor.tool_id),
  };
};

const unknownTool = (tool_id: string): ToolFailure => ({
  success: false,
  error: `the builtin runner has no tool ${tool_id}`,
  kind: 'UNKNOWN_TOOL',
  retryable: false,
});

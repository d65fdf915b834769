import type { Runner, ToolFailure } from '../runner.js';
import { withinLimits } from '../within-limits.js';
import type { BuiltinTool } from './builtin-tool.js';
import { createCurrentTime } from './current-time.js';
import { add, divide, multiply, subtract } from './math.js';
import { clearScratchpad, readScratchpad, writeScratchpad } from './scratchpad.js';
import { getForecast, getWeather } from './weather.js';
import { writeTodos } from './write-todos.js';

/** Runs tools inside the worker process. Pure ones return without a promise, because tens of thousands run here per second. */
export const createBuiltinRunner = ({ clock = () => new Date() }: { clock?: () => Date } = {}): Runner => {
  const tools = new Map<string, BuiltinTool>([
    ['cap:current_time:get_current_time', createCurrentTime(clock)],
    ['cap:test_math:add', add],
    ['cap:test_math:subtract', subtract],
    ['cap:test_math:multiply', multiply],
    ['cap:test_math:divide', divide],
    ['cap:noop:noop', (inputs, call) => withinLimits({ success: true, payload: inputs }, call)],
    ['cap:test_weather:get_weather', getWeather],
    ['cap:test_weather:get_forecast', getForecast],
    ['cap:stateless_todo_list:write_todos', writeTodos],
    ['cap:research:write_scratchpad', writeScratchpad],
    ['cap:research:read_scratchpad', async (inputs, call) => withinLimits(await readScratchpad(inputs, call), call)],
    ['cap:research:clear_scratchpad', clearScratchpad],
  ]);
  return {
    type: 'builtin',
    run: (call) => tools.get(call.descriptor.tool_id)?.(call.inputs, call) ?? unknownTool(call.descriptor.tool_id),
  };
};

const unknownTool = (tool_id: string): ToolFailure => ({
  success: false,
  error: `the builtin runner has no tool ${tool_id}`,
  kind: 'UNKNOWN_TOOL',
  retryable: false,
});

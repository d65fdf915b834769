import type { Json } from '@capstan/contracts';
import { check } from './schema.js';
import type { AnyTool, ToolContext } from './tool.js';

/** Inputs checked, run, output checked, as JSON. */
export async function runTool(one: AnyTool, inputs: unknown, context: ToolContext): Promise<Json> {
  const input = await check(one.input, inputs, 'inputs');
  const output: unknown = await one.run(input, context);
  const checked = one.output ? await check(one.output, output, 'output') : output;
  const text = JSON.stringify(checked);
  return text === undefined ? null : (JSON.parse(text) as Json);
}

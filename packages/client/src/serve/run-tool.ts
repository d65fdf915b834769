import { type Json, toJson } from '@capstan/contracts';
import { check } from './schema.js';
import type { AnyTool, ToolContext } from './tool.js';

/** Checks the inputs, runs the tool, checks the output and returns it as JSON. */
export async function runTool(one: AnyTool, inputs: unknown, context: ToolContext): Promise<Json> {
  const input = await check(one.input, inputs, 'inputs');
  const output: unknown = await one.run(input, context);
  return toJson(one.output ? await check(one.output, output, 'output') : output);
}

import { createHash, randomUUID } from 'node:crypto';
import type { Artifact } from '@capstan/contracts';
import { logLine, progressLine } from './lines.js';
import { runTool } from './run-tool.js';
import type { InputOf, OutputOf, StandardSchema } from './schema.js';
import type { OwnTool, ToolContext } from './tool.js';

/** A tool that runs in memory, with what its calls left behind for a test. */
export type TestedTool<Input extends StandardSchema, Output extends StandardSchema> = {
  /** Checks the inputs, runs the function and checks its output. Errors of the function are rethrown. */
  call(inputs: InputOf<Input>, context?: Partial<ToolContext>): Promise<OutputOf<Output>>;
  logs: string[];
  artifacts: (Artifact & { content: string | Uint8Array })[];
};

export type TestOptions = { secrets?: Record<string, string> };

/** Runs a tool without a server: `await serveTools.test(refund).call({ … })`. */
export function testTool<Input extends StandardSchema, Output extends StandardSchema>(
  one: OwnTool<Input, Output>,
  { secrets = {} }: TestOptions = {},
): TestedTool<Input, Output> {
  const logs: string[] = [];
  const artifacts: TestedTool<Input, Output>['artifacts'] = [];
  const contextOf = (over: Partial<ToolContext>): ToolContext => {
    const id = `inv_${randomUUID()}`;
    return {
      invocation_id: id,
      attempt: 1,
      tenant: 'default',
      actor: 'test',
      session_id: null,
      idempotency_key: id,
      deadline_at: new Date(Date.now() + 60_000),
      traceparent: null,
      signal: new AbortController().signal,
      log: (...what) => void logs.push(logLine(what)),
      progress: (fraction, message) => void logs.push(progressLine(fraction, message)),
      secret: (name) => {
        const value = secrets[name];
        return value === undefined
          ? Promise.reject(new Error(`There is no secret ${name}: give it as serveTools.test(tool, { secrets }).`))
          : Promise.resolve(value);
      },
      artifact: (name, content, media_type = 'application/octet-stream') => {
        const sha256 = createHash('sha256').update(content).digest('hex');
        const kept = { sha256, name, media_type, size: Buffer.byteLength(content) };
        artifacts.push({ ...kept, content });
        return Promise.resolve(kept);
      },
      ...over,
    };
  };
  return {
    call: async (inputs, over = {}) => (await runTool(one, inputs, contextOf(over))) as OutputOf<Output>,
    logs,
    artifacts,
  };
}

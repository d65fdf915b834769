/**
 * The parts of optional peer packages that the adapters use, so that building this package needs none of them. Applications see the
 * peers' own types. `test/peers/frameworks` runs the adapters with the real packages, and compiles what applications write with them.
 */

declare module '@langchain/core/tools' {
  type Config = { toolCall?: { id?: string }; signal?: AbortSignal };
  export class DynamicStructuredTool {
    constructor(fields: {
      name: string;
      description: string;
      schema: object;
      func(input: unknown, manager?: unknown, config?: Config): Promise<string>;
    });
  }
}

declare module '@langchain/langgraph' {
  export const interrupt: (value: unknown) => unknown;
}

declare module '@mastra/core/tools' {
  // biome-ignore lint/complexity/noBannedTypes: a name for the peer's own type
  export type Tool = {};
  type Context = {
    agent?: { toolCallId?: string; suspend?(payload: unknown): Promise<unknown>; resumeData?: unknown };
    abortSignal?: AbortSignal;
  };
  export const createTool: (options: {
    id: string;
    description: string;
    inputSchema: unknown;
    execute(input: unknown, context?: Context): Promise<unknown>;
  }) => Tool;
}

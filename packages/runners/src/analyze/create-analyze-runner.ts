import { createEgress, type Egress } from '@capstan/egress';
import { boundInputs } from '../bound-inputs.js';
import type { Runner, ToolFailure } from '../runner.js';
import { type AnalyzePorts, NO_PORTS } from './analyze-ports.js';
import { analyzeResponse } from './analyze-response.js';
import type { LlmSettings } from './llm/llm-settings.js';
import { createSchemaAnalyst } from './schema/schema-analyst.js';

export type AnalyzeRunnerOptions = { llm?: LlmSettings | undefined; ports?: AnalyzePorts | undefined; egress?: Egress };

/** Analyzes responses with a language model, and schemas with rules. */
export const createAnalyzeRunner = ({ llm, ports = NO_PORTS, egress: given }: AnalyzeRunnerOptions = {}): Runner => {
  let egress = given;
  const schemas = createSchemaAnalyst();
  return {
    type: 'analyze',
    run: (call) => {
      const { action, inputs } = boundInputs(call);
      switch (action) {
        case 'analyze.response':
          egress ??= createEgress();
          return analyzeResponse(call, inputs, { llm, ports, egress });
        case 'analyze.schema':
          return schemas.analyze(inputs, call);
        default:
          return unknownTool(action);
      }
    },
    close: async () => {
      await schemas.close();
      if (!given) await egress?.close();
    },
  };
};

const unknownTool = (tool_id: string): ToolFailure => ({
  success: false,
  error: `the analyze runner has no tool ${tool_id}`,
  kind: 'UNKNOWN_TOOL',
  retryable: false,
});

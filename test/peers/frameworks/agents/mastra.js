import { tools as capstanTools } from '@capstan/client/mastra';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { LibSQLStore } from '@mastra/libsql';

export const turn = async ({ capstan, model_url, options, folder }, state) => {
  const tools = await capstanTools(capstan, options);
  const model = { id: 'custom/stand-in', url: model_url, apiKey: 'none' };
  const adder = new Agent({ id: 'adder', name: 'adder', instructions: 'Add.', model, tools });
  const storage = new LibSQLStore({ id: 'runs', url: `file:${folder}.db` });
  const agent = new Mastra({ agents: { adder }, storage, logger: false }).getAgent('adder');
  const result =
    state === null
      ? await agent.generate('What is 2 and 3?')
      : await agent.resumeGenerate({ decided: true }, JSON.parse(state));
  if (result.finishReason !== 'suspended') return { text: result.text };
  const { toolCallId } = result.suspendPayload;
  return { state: JSON.stringify({ runId: result.runId, toolCallId }), held: [result.suspendPayload] };
};

import { tools as capstanTools, decide } from '@capstan/client/openai-agents';
import { Agent, OpenAIProvider, Runner, RunState } from '@openai/agents';

export const turn = async ({ capstan, model_url, options }, state) => {
  const tools = await capstanTools(capstan, options);
  const modelProvider = new OpenAIProvider({ baseURL: model_url, apiKey: 'none' });
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const agent = new Agent({ name: 'adder', instructions: 'Add.', model: 'stand-in', tools });
  let input = 'What is 2 and 3?';
  if (state !== null) {
    input = await RunState.fromString(agent, state);
    await decide(tools, input);
  }
  const result = await runner.run(agent, input);
  return result.interruptions.length > 0 ? { state: result.state.toString() } : { text: result.finalOutput };
};

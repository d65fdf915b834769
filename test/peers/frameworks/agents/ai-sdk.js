import { createOpenAI } from '@ai-sdk/openai';
import { approvals, tools as capstanTools } from '@capstan/client/ai-sdk';
import { generateText, stepCountIs } from 'ai';

export const turn = async ({ capstan, model_url, options }, state) => {
  const tools = await capstanTools(capstan, options);
  const model = createOpenAI({ baseURL: model_url, apiKey: 'none' }).chat('stand-in');
  const messages = state === null ? [{ role: 'user', content: 'What is 2 and 3?' }] : JSON.parse(state);
  if (state !== null) messages.push(await approvals(tools, messages));
  const { text, content, response } = await generateText({ model, tools, messages, stopWhen: stepCountIs(5) });
  messages.push(...response.messages);
  return content.some(({ type }) => type === 'tool-approval-request') ? { state: JSON.stringify(messages) } : { text };
};

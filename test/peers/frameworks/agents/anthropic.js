import Anthropic from '@anthropic-ai/sdk';
import { answer, tools as capstanTools, definitions } from '@capstan/client/anthropic';

/** The SDK's own loop where calls are waited for; a loop by hand where they interrupt. */
export const turn = async ({ capstan, model_url, options }, state) => {
  const client = new Anthropic({ baseURL: model_url.replace(/\/v1$/, ''), apiKey: 'none' });
  const tools = await capstanTools(capstan, options);
  const request = { model: 'stand-in', max_tokens: 100 };
  const messages = state === null ? [{ role: 'user', content: 'What is 2 and 3?' }] : JSON.parse(state);
  if (options.held === 'wait') {
    const last = await client.beta.messages.toolRunner({ ...request, tools, messages });
    return { text: last.content[0].text };
  }
  for (;;) {
    if (messages.at(-1).role === 'user') {
      const { content } = await client.messages.create({ ...request, tools: definitions(tools), messages });
      messages.push({ role: 'assistant', content });
    }
    const { held, message } = await answer(tools, messages.at(-1));
    if (held.length > 0) return { state: JSON.stringify(messages), held };
    if (message === null) return { text: messages.at(-1).content[0].text };
    messages.push(message);
  }
};

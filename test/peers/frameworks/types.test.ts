import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startLineProcess } from '../../fixtures/start-line-process.js';
import { tempDir } from '../../fixtures/temp-dir.js';

const TSC = join(import.meta.dirname, '../../../node_modules/typescript/bin/tsc');
const OPTIONS = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2024'];

const HEAD = `import { createClient } from '@capstan/client';
const capstan = createClient();
const options = { match: 'app:shop:*', held: 'interrupt' } as const;
`;

/** Code that an application would write, in the types of each framework. */
const USES: Record<string, string> = {
  'ai-sdk': `import { approvals, tools } from '@capstan/client/ai-sdk';
import { generateText, type LanguageModel, type ModelMessage } from 'ai';
export const turn = async (model: LanguageModel, messages: ModelMessage[]) => {
  const taken = await tools(capstan, options);
  const { response } = await generateText({ model, tools: taken, messages });
  messages.push(...response.messages);
  const decided = await approvals(taken, messages);
  if (decided) messages.push(decided);
};`,
  'openai-agents': `import { decide, tools } from '@capstan/client/openai-agents';
import { Agent, RunState, run } from '@openai/agents';
export const turn = async (saved: string) => {
  const taken = await tools(capstan, options);
  const agent = new Agent({ name: 'refunder', instructions: 'Refund.', tools: taken });
  const state = await RunState.fromString(agent, saved);
  await decide(taken, state);
  return run(agent, state);
};`,
  anthropic: `import Anthropic from '@anthropic-ai/sdk';
import { answer, definitions, tools } from '@capstan/client/anthropic';
export const turn = async (client: Anthropic, messages: Anthropic.MessageParam[]) => {
  const taken = await tools(capstan, options);
  const request = { model: 'claude-opus-4-5', max_tokens: 100 };
  const response = await client.messages.create({ ...request, tools: definitions(taken), messages });
  const { message } = await answer(taken, response);
  if (message) messages.push(message);
  return client.beta.messages.toolRunner({ ...request, tools: taken, messages: [{ role: 'user', content: 'x' }] });
};`,
  langchain: `import { tools } from '@capstan/client/langchain';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import type { ChatOpenAI } from '@langchain/openai';
export const turn = async (model: ChatOpenAI) => {
  const taken = await tools(capstan, options);
  return [new ToolNode(taken), model.bindTools(taken)];
};`,
  mastra: `import { tools } from '@capstan/client/mastra';
import { Agent } from '@mastra/core/agent';
export const turn = async () =>
  new Agent({ id: 'a', name: 'a', instructions: 'Refund.', model: 'openai/gpt-5', tools: await tools(capstan, options) });`,
};

test.each(Object.keys(USES))('application code that uses the tools for %s compiles', async (framework) => {
  const cwd = await tempDir();
  await symlink(join(import.meta.dirname, 'node_modules'), join(cwd, 'node_modules'));
  await writeFile(join(cwd, 'package.json'), '{"type": "module"}');
  await writeFile(join(cwd, 'turn.ts'), `${HEAD}${USES[framework]}\n`);
  const env = { PATH: process.env.PATH ?? '' };
  const compiled = await startLineProcess({ command: [process.execPath, TSC, ...OPTIONS, 'turn.ts'], env, cwd });
  const { code } = await compiled.exited;
  expect(compiled.stdout.join('\n')).toBe('');
  expect(code).toBe(0);
});

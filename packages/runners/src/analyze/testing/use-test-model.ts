import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { JsonObject } from '@capstan/contracts';
import { afterAll, beforeAll } from 'vitest';
import { testDescriptor } from '../../testing/test-call.js';
import type { AnalyzePorts } from '../analyze-ports.js';
import { createAnalyzeRunner } from '../create-analyze-runner.js';
import { type LlmSettings, llmSettings } from '../llm/llm-settings.js';
import { type Answer, type Asked, refuse } from './answers.js';

export const TOOL = testDescriptor({ tool_id: 'analyze.response', runner: 'analyze' });

/** An endpoint on loopback and runners that ask it, until this test file has ended. Each request takes the next answer. */
export function useTestModel() {
  const asked: Asked[] = [];
  let answers: Answer[] = [];
  let origin = '';
  const runners: ReturnType<typeof createAnalyzeRunner>[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const one = { path: request.url ?? '', headers: request.headers, body: body as JsonObject };
      asked.push(one);
      (answers.shift() ?? refuse(500))(response, one);
    });
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await Promise.all(runners.map((runner) => runner.close?.()));
    server.closeAllConnections();
    server.close();
  });
  return {
    asked,
    /** Forgets what was asked, and has these answers for what will be. */
    answerWith: (...given: Answer[]) => {
      asked.length = 0;
      answers = given;
    },
    origin: () => origin,
    runnerFor: (llm: LlmSettings | undefined, ports?: AnalyzePorts) => {
      const runner = createAnalyzeRunner({ llm, ports });
      runners.push(runner);
      return runner;
    },
    settings: (provider: 'openai' | 'anthropic') =>
      llmSettings({
        CAPSTAN_LLM_PROVIDER: provider,
        CAPSTAN_LLM_BASE_URL: provider === 'openai' ? `${origin}/v1` : origin,
        CAPSTAN_LLM_MODEL: 'm',
        CAPSTAN_LLM_API_KEY: 'llm-key-of-the-operator',
        CAPSTAN_LLM_OUTPUT_COST: 5,
      }),
  };
}

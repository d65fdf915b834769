import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Agent } from '@capstan/contracts';
import { readStdin } from '../read-stdin.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

export type AgentOptions = {
  name?: string | undefined;
  prompt?: string;
  capability?: string[];
  tool?: string[];
  denyTool?: string[];
  config?: string;
  file?: string;
};

type AgentFields = {
  -readonly [K in 'name' | 'system_prompt' | 'capabilities' | 'tools' | 'deny_tools' | 'config']?: Agent[K];
};

/** What the file says, and over it the options. What is wrong with either the gateway says. */
export const readAgentFields = async (session: Session, options: AgentOptions): Promise<AgentFields> => {
  const fields: AgentFields =
    options.file === undefined ? {} : parseObject(await readText(session, options.file), options.file);
  if (options.name !== undefined) fields.name = options.name;
  if (options.prompt !== undefined) fields.system_prompt = options.prompt;
  if (options.capability !== undefined) fields.capabilities = options.capability;
  if (options.tool !== undefined) fields.tools = options.tool;
  if (options.denyTool !== undefined) fields.deny_tools = options.denyTool;
  if (options.config !== undefined) fields.config = parseObject(options.config, '--config');
  return fields;
};

const readText = (session: Session, file: string): Promise<string> =>
  file === '-'
    ? readStdin(session)
    : readFile(resolve(session.cwd, file), 'utf8').catch((error: unknown) => {
        throw new UsageError(`cannot read ${file}: ${error instanceof Error ? error.message : error}`);
      });

const parseObject = (text: string, where: string) => {
  try {
    const value = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {}
  throw new UsageError(`${where} is not a JSON object`);
};

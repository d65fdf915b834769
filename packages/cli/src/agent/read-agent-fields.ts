import type { Agent } from '@capstan/contracts';
import { parseJsonObject } from '../parse/json-object.js';
import { readTextFile } from '../read-text-file.js';
import type { Session } from '../session.js';

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

/** The fields of the file, overridden by the options. The gateway validates both. */
export const readAgentFields = async (session: Session, options: AgentOptions): Promise<AgentFields> => {
  const fields: AgentFields =
    options.file === undefined ? {} : parseJsonObject(await readTextFile(session, options.file), options.file);
  if (options.name !== undefined) fields.name = options.name;
  if (options.prompt !== undefined) fields.system_prompt = options.prompt;
  if (options.capability !== undefined) fields.capabilities = options.capability;
  if (options.tool !== undefined) fields.tools = options.tool;
  if (options.denyTool !== undefined) fields.deny_tools = options.denyTool;
  if (options.config !== undefined) fields.config = parseJsonObject(options.config, '--config') as Agent['config'];
  return fields;
};

import type { HoldFilter, Risk } from '@capstan/contracts';
import { type Command, Option } from 'commander';
import { parseToolId } from './tool-id.js';
import { RISKS } from './words.js';

export type HoldFilterOptions = { tool?: string; run?: string; rule?: string; actor?: string; risk?: Risk };

/** The options that select holds, for all commands that list or decide on many. */
export const addHoldFilter = (command: Command): Command =>
  command
    .option('--tool <tool>', 'only of this tool', parseToolId)
    .option('--run <run_id>', 'only of this run')
    .option('--rule <id>', 'only held by this rule')
    .option('--actor <name>', 'only submitted by this actor')
    .addOption(new Option('--risk <risk>', 'only of this risk').choices(RISKS));

export const holdFilterOf = ({ tool, run, rule, actor, risk }: HoldFilterOptions): HoldFilter => ({
  ...(tool === undefined ? {} : { tool_id: tool }),
  ...(run === undefined ? {} : { run_id: run }),
  ...(rule === undefined ? {} : { rule }),
  ...(actor === undefined ? {} : { actor }),
  ...(risk === undefined ? {} : { risk }),
});

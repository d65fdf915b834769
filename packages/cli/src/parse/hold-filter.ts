import type { HoldFilter, Risk } from '@capstan/contracts';
import { type Command, Option } from 'commander';

export type HoldFilterOptions = { tool?: string; run?: string; rule?: string; actor?: string; risk?: Risk };

const RISKS = ['LOW', 'MED', 'HIGH', 'CRITICAL'] as const satisfies Risk[];

/** The options that pick holds, the same for lists and for what decides on many. */
export const addHoldFilter = (command: Command): Command =>
  command
    .option('--tool <tool>', 'of this tool')
    .option('--run <run_id>', 'of this run')
    .option('--rule <id>', 'held by this rule')
    .option('--actor <name>', 'asked for by them')
    .addOption(new Option('--risk <risk>', 'of this risk').choices(RISKS));

export const holdFilterOf = ({ tool, run, rule, actor, risk }: HoldFilterOptions): HoldFilter => ({
  ...(tool === undefined ? {} : { tool_id: tool }),
  ...(run === undefined ? {} : { run_id: run }),
  ...(rule === undefined ? {} : { rule }),
  ...(actor === undefined ? {} : { actor }),
  ...(risk === undefined ? {} : { risk }),
});

import type { InvocationQuery } from '@capstan/client';
import type { Command } from 'commander';
import { resolveRun } from '../resolve-id.js';
import type { Session } from '../session.js';
import { parseLabelQuery } from './label.js';
import { parseMoment } from './moment.js';
import { parseQueue, parseStatuses } from './words.js';

type FilterOptions = Pick<InvocationQuery, 'status' | 'runner' | 'label' | 'actor' | 'since' | 'until'> & {
  tool?: string;
  run?: string;
  session?: string;
  search?: string;
};

/** The options that pick invocations, the same for every command that acts on many. */
export const addFilterOptions = (command: Command, now: () => Date): Command =>
  command
    .option('-s, --status <status>', 'in this status (several with commas)', parseStatuses)
    .option('-t, --tool <tool_id>', 'of this tool')
    .option('-r, --runner <type>', 'of this runner type, or of app/<pool>', parseQueue)
    .option('--run <run_id>', 'of this run')
    .option('--session <session_id>', 'of this session')
    .option('-l, --label <key=value>', 'with this label (may be given again)', parseLabelQuery)
    .option('--actor <name>', 'submitted by this actor')
    .option('--since <when>', 'created since: a time, or 10m, 2h, 3d ago', parseMoment(now))
    .option('--until <when>', 'created until', parseMoment(now))
    .option('-q, --search <text>', 'the beginning of an id, or a part of tool, actor, label or error');

export const readFilter = async (session: Session, command: Command): Promise<InvocationQuery> => {
  const {
    tool,
    run,
    session: session_id,
    status,
    runner,
    label,
    actor,
    since,
    until,
    search: q,
  } = command.opts<FilterOptions>();
  const run_id = run === undefined ? undefined : await resolveRun(session, run);
  return { status, tool_id: tool, runner, run_id, session_id, label, actor, since, until, q };
};

export const isEmptyFilter = (filter: InvocationQuery): boolean =>
  Object.values(filter).every((value) => value === undefined);

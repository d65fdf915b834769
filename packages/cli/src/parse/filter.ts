import type { InvocationQuery } from '@capstan/client';
import type { Command } from 'commander';
import { resolveRun } from '../resolve-id.js';
import type { Session } from '../session.js';
import { parseLabelQuery } from './label.js';
import { parseMoment } from './moment.js';
import { parseToolId } from './tool-id.js';
import { parseQueue, parseStatuses } from './words.js';

type FilterOptions = Pick<InvocationQuery, 'status' | 'runner' | 'label' | 'actor' | 'since' | 'until'> & {
  tool?: string;
  run?: string;
  session?: string;
  search?: string;
};

/** The options that select invocations, for all commands that list or act on many. */
export const addFilterOptions = (command: Command, now: () => Date): Command =>
  command
    .option('-s, --status <status>', 'only with this status (comma-separated)', parseStatuses)
    .option('-t, --tool <tool_id>', 'only of this tool', parseToolId)
    .option('-r, --runner <type>', 'only of this runner type, or app/<pool>', parseQueue)
    .option('--run <run_id>', 'only of this run')
    .option('--session <session_id>', 'only of this session')
    .option('-l, --label <key=value>', 'only with this label (repeatable)', parseLabelQuery)
    .option('--actor <name>', 'only submitted by this actor')
    .option('--since <when>', 'only created since: 2026-01-31, or 10m, 2h, 3d ago', parseMoment(now))
    .option('--until <when>', 'only created until', parseMoment(now))
    .option('-q, --search <text>', 'match an id prefix, or part of a tool, actor, label or error');

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

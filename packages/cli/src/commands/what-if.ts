import type { ChangedDecision, WhatIfCounts, WhatIfRequest } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { countOf, formatCount } from '../format/count.js';
import { relativeTime } from '../format/relative-time.js';
import { integer } from '../parse/integer.js';
import { parseMoment } from '../parse/moment.js';
import { printTable } from '../print-items.js';
import { createProgress } from '../progress/progress.js';
import { readPolicyFile } from '../read-policy-file.js';
import type { Session } from '../session.js';

type Options = { since?: string; until?: string; limit: number };

const DEFAULT_LIMIT = 20;

export const addWhatIf: AddCommand = (program, cli) => {
  program
    .command('what-if')
    .description('show which recorded decisions a draft policy would change')
    .argument('<file>', 'draft policy, YAML or JSON; - for stdin')
    .option('--since <when>', 'only invocations created since: 2026-01-31, or 10m, 2h, 3d ago', parseMoment(cli.now))
    .option('--until <when>', 'only invocations created until', parseMoment(cli.now))
    .option('--limit <n>', 'maximum number of changed decisions to list', integer(0, 10_000), DEFAULT_LIMIT)
    .action((file: string, options: Options, command: Command) =>
      cli.run(command, async (session) => {
        const { since, until, limit } = options;
        return whatIf(session, { policy: await readPolicyFile(session, file), since, until, limit });
      }),
    );
};

const whatIf = async (session: Session, request: WhatIfRequest): Promise<ExitCode> => {
  const client = await session.client();
  const progress = createProgress(session.err, 'checked');
  const items: ChangedDecision[] = [];
  let counts: WhatIfCounts | null = null;
  try {
    for await (const line of client.policies.whatIfLines(request, { signal: session.signal })) {
      if (line.kind === 'progress') await progress.update(line.checked, line.checked / Math.max(1, line.total));
      else if (line.kind === 'changed') items.push(withoutKind(line));
      else counts = withoutKind(line);
    }
  } finally {
    await progress.end();
  }
  if (counts === null) {
    await session.err.line(
      session.err.colors.red('✗ the gateway closed the connection before all decisions were checked'),
    );
    return EXIT.failed;
  }
  if (session.json) await session.printJson({ ...counts, items, more: counts.changed - items.length });
  else await print(session, items, counts);
  return EXIT.success;
};

const withoutKind = <T extends { kind: string }>({ kind: _, ...rest }: T): Omit<T, 'kind'> => rest;

const print = async (session: Session, items: ChangedDecision[], counts: WhatIfCounts): Promise<void> => {
  const { out } = session;
  await printTable<ChangedDecision>(session, items, {
    empty: counts.changed === 0 ? 'No decisions would change.' : '',
    columns: [
      { title: 'INVOCATION', text: ({ invocation_id }) => invocation_id },
      { title: 'TOOL', text: ({ tool_id }) => tool_id, shrinks: true, tail: true },
      { title: 'WAS', text: ({ was }) => was.effect },
      { title: 'WOULD BE', text: ({ would_be }) => would_be.effect },
      { title: 'WHEN', text: ({ created_at }) => relativeTime(created_at, session.now()), drops: 1 },
      { title: 'WHY', text: ({ would_be }) => would_be.reason, shrinks: true },
    ],
  });
  const more = counts.changed - items.length;
  if (more > 0) await out.line(out.colors.dim(`… and ${formatCount(more)} more`));
  const changes = Object.entries(counts.changes).map(([change, count]) => `${change} ${formatCount(count)}`);
  const unknown =
    counts.unknown_tools > 0 ? [`${countOf(counts.unknown_tools, 'call')} of tools that no longer exist`] : [];
  await out.line(
    `${formatCount(counts.changed)} of ${countOf(counts.checked, 'decision')} would change${[...changes, ...unknown].map((text) => `, ${text}`).join('')}`,
  );
};

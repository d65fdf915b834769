import type { AuditEntry, AuditFilter } from '@capstan/contracts';
import { visibleJson, visibleLine } from '@capstan/contracts/visible-text';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { countOf } from '../format/count.js';
import { relativeTime } from '../format/relative-time.js';
import { integer } from '../parse/integer.js';
import { parseMoment } from '../parse/moment.js';
import { printTable } from '../print-items.js';
import type { Session } from '../session.js';

type Options = AuditFilter & { limit: number; export?: boolean };
const DEFAULT_LIMIT = 50;

export const addAudit: AddCommand = (program, cli) => {
  const audit = program
    .command('audit')
    .description('what was changed or refused, and by whom, the newest first')
    .option('--event <name>', 'of this kind, like policy.put or key.*')
    .option('--subject <id>', 'about this')
    .option('--actor <name>', 'by this actor')
    .option('--since <when>', 'since: a time, or 10m, 2h, 3d ago', parseMoment(cli.now))
    .option('--until <when>', 'until', parseMoment(cli.now))
    .option('-n, --limit <n>', 'how many', integer(1, 1000), DEFAULT_LIMIT)
    .option('--export', 'all of them as JSON Lines, the oldest first')
    .action((options: Options, command: Command) => cli.run(command, (session) => list(session, options)));
  audit
    .command('verify')
    .description('recompute the chain of all events')
    .action((_options: object, command: Command) => cli.run(command, verify));
};

const list = async (
  session: Session,
  { limit, export: all, event, subject, actor, since, until }: Options,
): Promise<ExitCode> => {
  const client = await session.client();
  const filter = { event, subject, actor, since, until };
  if (all) {
    for await (const entry of client.audit.export(filter)) await session.out.line(visibleJson(entry));
    return EXIT.success;
  }
  const page = await client.audit.list({ ...filter, limit }).page();
  if (session.json) await session.printJson(page);
  else
    await printTable<AuditEntry>(session, page.items, {
      empty: 'Nothing of the kind is on record.',
      columns: [
        { title: 'WHEN', text: ({ at }) => relativeTime(at, session.now()) },
        { title: 'ACTOR', text: ({ actor: by }) => visibleLine(by) },
        { title: 'EVENT', text: ({ event: what }) => visibleLine(what) },
        { title: 'SUBJECT', text: ({ subject: about }) => visibleLine(about) },
        { title: 'DETAIL', text: ({ detail }) => visibleLine(JSON.stringify(detail)), shrinks: true },
      ],
    });
  return EXIT.success;
};

const verify = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  const verdict = await client.audit.verify();
  const { out } = session;
  if (session.json) await session.printJson(verdict);
  else if (verdict.ok)
    await out.line(
      `${out.colors.green('✓')} ${countOf(verdict.checked, 'event')}, the chain is whole; head ${verdict.head}`,
    );
  else {
    for (const { row, field, why } of verdict.mismatches)
      await out.line(`${out.colors.red('✗')} event ${row}, ${field}: ${why}`);
  }
  return verdict.ok ? EXIT.success : EXIT.failed;
};

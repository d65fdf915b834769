import type { AuditEntry, AuditFilter } from '@capstan/contracts';
import { visibleJson, visibleLine } from '@capstan/contracts/visible-text';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { auditDetail } from '../format/audit-detail.js';
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
    .description('list what was changed or refused, and by whom, newest first')
    .option('--event <name>', 'only this kind of event: policy.put, key.*')
    .option('--subject <id>', 'only events about this id')
    .option('--actor <name>', 'only events by this actor')
    .option('--since <when>', 'only since this time: 2026-01-31, or 10m, 2h, 3d ago', parseMoment(cli.now))
    .option('--until <when>', 'only until this time', parseMoment(cli.now))
    .option('-n, --limit <n>', 'maximum number of events', integer(1, 1000), DEFAULT_LIMIT)
    .option('--export', 'print all events as JSON Lines, oldest first')
    .action((options: Options, command: Command) => cli.run(command, (session) => list(session, options)));
  audit
    .command('verify')
    .description('verify the hash chain of the audit log')
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
      empty: 'No matching events.',
      columns: [
        { title: 'WHEN', text: ({ at }) => relativeTime(at, session.now()) },
        { title: 'ACTOR', text: ({ actor: by }) => visibleLine(by), shrinks: 8, drops: 1 },
        { title: 'EVENT', text: ({ event: what }) => visibleLine(what) },
        { title: 'SUBJECT', text: ({ subject: about }) => visibleLine(about), shrinks: true },
        { title: 'DETAIL', text: (entry) => visibleLine(auditDetail(entry)), shrinks: 30 },
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
      `${out.colors.green('✓')} ${countOf(verdict.checked, 'event')}, hash chain intact, head ${verdict.head}`,
    );
  else {
    for (const { row, field, why } of verdict.mismatches)
      await out.line(`${out.colors.red('✗')} event ${row}, ${field}: ${why}`);
  }
  return verdict.ok ? EXIT.success : EXIT.failed;
};

import { type Webhook, type WebhookDelivery, WebhookKind } from '@capstan/contracts';
import { type Command, Option } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { countOf } from '../format/count.js';
import { relativeTime } from '../format/relative-time.js';
import { integer } from '../parse/integer.js';
import { printDone } from '../print-done.js';
import { printItems, printTable } from '../print-items.js';
import { removeEach } from '../remove-each.js';
import { resolveName } from '../resolve-name.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

type AddOptions = { events: string; kind: WebhookKind; secret?: string; user?: string[] };

const SHOWN = 20;

export const addWebhook: AddCommand = (program, cli) => {
  const webhook = program
    .command('webhook')
    .description('manage webhooks and their deliveries')
    .action((_options: object, command: Command) => cli.run(command, printWebhooks));
  webhook
    .command('list')
    .description('list webhooks')
    .action((_options: object, command: Command) => cli.run(command, printWebhooks));
  webhook
    .command('add')
    .description('add a webhook; its secret is shown only once')
    .argument('<url>', 'URL to send to, or mailto:ann@example.com')
    .option('--events <types>', 'event types, like invocation.failed,hold.* (comma-separated)', '*')
    .addOption(new Option('--kind <kind>', 'message format').choices(WebhookKind.options).default('standard'))
    .option('--secret <secret>', 'your own secret; for buttons in Slack, the signing secret of the Slack app')
    .option('--user <id=actor...>', 'actor that a Slack user acts as, like U024BE7LH=ann')
    .action((url: string, options: AddOptions, command: Command) =>
      cli.run(command, (session) => addEndpoint(session, url, options)),
    );
  webhook
    .command('users')
    .description('set which actor each Slack user acts as; users not listed can no longer decide')
    .argument('<webhook>', 'webhook id or URL')
    .argument('[id=actor...]', 'Slack user and actor, like U024BE7LH=ann')
    .action((id: string, users: string[], _options: object, command: Command) =>
      cli.run(command, async (session) => {
        const client = await session.client();
        const webhook_id = await resolveName(session, 'webhook', id);
        const changed = await client.webhooks.change(webhook_id, { users: usersOf(users) });
        await printDone(session, changed, `${countOf(users.length, 'Slack user')} can decide through ${webhook_id}`);
        return EXIT.success;
      }),
    );
  for (const action of ['enable', 'disable'] as const) {
    webhook
      .command(action)
      .description(action === 'enable' ? 'enable webhooks' : 'disable webhooks')
      .argument('<webhook...>', 'webhook ids or URLs')
      .action((ids: string[], _options: object, command: Command) =>
        cli.run(command, (session) => switchEndpoints(session, ids, action === 'enable')),
      );
  }
  webhook
    .command('remove')
    .description('remove webhooks')
    .argument('<webhook...>', 'webhook ids or URLs')
    .action((ids: string[], _options: object, command: Command) => cli.run(command, (session) => remove(session, ids)));
  webhook
    .command('deliveries')
    .description('list deliveries, newest first')
    .argument('<webhook_id>', 'webhook id, or urls for the webhook_url of invocations and runs')
    .option('-n, --limit <n>', 'maximum number of deliveries', integer(1), SHOWN)
    .action((id: string, { limit }: { limit: number }, command: Command) =>
      cli.run(command, async (session) => printDeliveries(session, await resolveName(session, 'webhook', id), limit)),
    );
  webhook
    .command('redeliver')
    .description('send deliveries again')
    .argument('<webhook_id>', 'webhook id')
    .argument('<delivery_id...>', 'delivery ids')
    .action((id: string, deliveries: string[], _options: object, command: Command) =>
      cli.run(command, (session) => redeliver(session, id, deliveries)),
    );
};

/** If a person has disabled it, the reason already says so. */
const stateOf = ({ enabled, disabled_reason }: Webhook): string => {
  if (enabled) return 'enabled';
  return disabled_reason?.startsWith('disabled') ? disabled_reason : `disabled: ${disabled_reason ?? '-'}`;
};

const printWebhooks = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  await printItems<Webhook>(session, client.webhooks.list(), {
    empty: 'No webhooks. Add one with `capstan webhook add https://…`.',
    columns: [
      { title: 'WEBHOOK', text: ({ webhook_id }) => webhook_id },
      { title: 'KIND', text: ({ kind }) => kind },
      { title: 'URL', text: ({ url }) => url, shrinks: true },
      { title: 'EVENTS', text: ({ events }) => events.join(',') },
      {
        title: 'STATE',
        text: stateOf,
      },
    ],
  });
  return EXIT.success;
};

const usersOf = (users: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    users.map((each) => {
      const [id = '', actor = ''] = each.split('=', 2);
      if (id === '' || actor === '')
        throw new UsageError(`expected <id>=<actor>, not ${each}`, 'For example U024BE7LH=ann.');
      return [id, actor];
    }),
  );

const addEndpoint = async (session: Session, url: string, options: AddOptions): Promise<ExitCode> => {
  const { events, kind, secret, user } = options;
  const client = await session.client();
  const created = await client.webhooks.create({
    ...{ url, kind, secret },
    events: events.split(',').map((type) => type.trim()),
    ...(user === undefined ? {} : { users: usersOf(user) }),
  });
  const { out, err } = session;
  if (session.json) {
    await session.printJson(created);
    return EXIT.success;
  }
  await err.line(`${err.colors.green('✓')} ${created.webhook_id} receives ${created.events.join(', ')}`);
  // Only the standard format is signed; messages to Slack, Teams and by mail are not.
  if (created.kind !== 'standard') return EXIT.success;
  // Only the secret goes to stdout, as with keys.
  await out.line(created.secret);
  await err.line(err.colors.dim('  Save it now: it verifies the signatures, and it is not shown again.'));
  return EXIT.success;
};

const switchEndpoints = async (session: Session, ids: readonly string[], enabled: boolean): Promise<ExitCode> => {
  const client = await session.client();
  for (const named of ids) {
    const id = await resolveName(session, 'webhook', named);
    const webhook = await client.webhooks.change(id, { enabled });
    await printDone(session, webhook, `${id} ${enabled ? 'enabled' : 'disabled'}`);
  }
  return EXIT.success;
};

const remove = async (session: Session, ids: readonly string[]): Promise<ExitCode> => {
  const client = await session.client();
  return removeEach(session, ids, {
    field: 'webhook_id',
    done: 'removed',
    remove: (id) => client.webhooks.remove(id),
    resolve: (_, text) => resolveName(session, 'webhook', text),
  });
};

const deliveryState = ({ state, attempts, next_at }: WebhookDelivery, now: Date): string =>
  state === 'pending' && attempts > 0 && next_at !== null ? `retry ${relativeTime(next_at, now)}` : state;

const printDeliveries = async (session: Session, id: string, limit: number): Promise<ExitCode> => {
  const client = await session.client();
  const page = await client.webhooks.deliveries(id, { limit }).page();
  if (session.json) {
    await session.printJson(page);
    return EXIT.success;
  }
  await printTable<WebhookDelivery>(session, page.items, {
    empty: 'No deliveries yet.',
    columns: [
      { title: 'DELIVERY', text: ({ delivery_id }) => delivery_id },
      { title: 'TYPE', text: ({ type }) => type },
      { title: 'SUBJECT', text: ({ subject }) => subject, shrinks: true },
      { title: 'STATE', text: (delivery) => deliveryState(delivery, session.now()) },
      { title: 'TRIES', text: ({ attempts }) => String(attempts) },
      { title: 'ANSWER', text: ({ response_status, error }) => error ?? String(response_status ?? ''), shrinks: true },
      { title: 'WHEN', text: ({ created_at }) => relativeTime(created_at, session.now()) },
    ],
  });
  return EXIT.success;
};

const redeliver = async (session: Session, id: string, deliveries: readonly string[]): Promise<ExitCode> => {
  const client = await session.client();
  for (const delivery_id of deliveries) {
    const delivery = await client.webhooks.redeliver(id, delivery_id);
    await printDone(session, delivery, `${delivery_id} will be sent again`);
  }
  return EXIT.success;
};

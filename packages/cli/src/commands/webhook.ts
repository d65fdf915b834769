import type { Webhook, WebhookDelivery, WebhookKind } from '@capstan/contracts';
import { type Command, Option } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { relativeTime } from '../format/relative-time.js';
import { integer } from '../parse/integer.js';
import { printItems, printTable } from '../print-items.js';
import { resolveName } from '../resolve-name.js';
import type { Session } from '../session.js';

type AddOptions = { events: string; kind: WebhookKind };

const SHOWN = 20;

export const addWebhook: AddCommand = (program, cli) => {
  const webhook = program
    .command('webhook')
    .description('who is told what happens: list, add, enable, disable, remove, deliveries, redeliver')
    .action((_options: object, command: Command) => cli.run(command, printWebhooks));
  webhook
    .command('list')
    .description('every endpoint')
    .action((_options: object, command: Command) => cli.run(command, printWebhooks));
  webhook
    .command('add')
    .description('tell an address; its secret is shown this once')
    .argument('<url>')
    .option('--events <types>', 'such as invocation.failed,hold.* (several with commas)', '*')
    .addOption(new Option('--kind <kind>', 'how it is told').choices(['standard', 'slack']).default('standard'))
    .action((url: string, options: AddOptions, command: Command) =>
      cli.run(command, (session) => addEndpoint(session, url, options)),
    );
  for (const action of ['enable', 'disable'] as const) {
    webhook
      .command(action)
      .description(action === 'enable' ? 'take up endpoints again that were disabled' : 'tell them nothing for now')
      .argument('<webhook...>', 'their ids or URLs')
      .action((ids: string[], _options: object, command: Command) =>
        cli.run(command, (session) => switchEndpoints(session, ids, action === 'enable')),
      );
  }
  webhook
    .command('remove')
    .description('tell them no more')
    .argument('<webhook...>', 'their ids or URLs')
    .action((ids: string[], _options: object, command: Command) => cli.run(command, (session) => remove(session, ids)));
  webhook
    .command('deliveries')
    .description('what was sent, the newest first')
    .argument('<webhook_id>', 'or urls, for every webhook_url of an invocation or a run')
    .option('-n, --limit <n>', 'how many', integer(1), SHOWN)
    .action((id: string, { limit }: { limit: number }, command: Command) =>
      cli.run(command, async (session) => printDeliveries(session, await resolveName(session, 'webhook', id), limit)),
    );
  webhook
    .command('redeliver')
    .description('send deliveries once more')
    .argument('<webhook_id>')
    .argument('<delivery_id...>')
    .action((id: string, deliveries: string[], _options: object, command: Command) =>
      cli.run(command, (session) => redeliver(session, id, deliveries)),
    );
};

/** Of those that a person has disabled, the reason says that already. */
const stateOf = ({ enabled, disabled_reason }: Webhook): string => {
  if (enabled) return 'enabled';
  return disabled_reason?.startsWith('disabled') ? disabled_reason : `disabled: ${disabled_reason ?? '-'}`;
};

const printWebhooks = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  await printItems<Webhook>(session, client.webhooks.list(), {
    empty: 'Nobody is told anything. Add an endpoint with `capstan webhook add https://…`.',
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

const addEndpoint = async (session: Session, url: string, { events, kind }: AddOptions): Promise<ExitCode> => {
  const client = await session.client();
  const created = await client.webhooks.create({ url, kind, events: events.split(',').map((type) => type.trim()) });
  const { out, err } = session;
  if (session.json) {
    await session.printJson(created);
    return EXIT.success;
  }
  // The secret alone on stdout, as with keys.
  await err.line(`${err.colors.green('✓')} ${created.webhook_id} is told ${created.events.join(', ')}`);
  await out.line(created.secret);
  await err.line(err.colors.dim('  Keep it now: it verifies the signatures and is never shown again.'));
  return EXIT.success;
};

const switchEndpoints = async (session: Session, ids: readonly string[], enabled: boolean): Promise<ExitCode> => {
  const client = await session.client();
  for (const named of ids) {
    const id = await resolveName(session, 'webhook', named);
    const webhook = await client.webhooks.change(id, { enabled });
    if (session.json) await session.printJson(webhook);
    else await session.out.line(`${session.out.colors.green('✓')} ${id} is ${enabled ? 'enabled' : 'disabled'}`);
  }
  return EXIT.success;
};

const remove = async (session: Session, ids: readonly string[]): Promise<ExitCode> => {
  const client = await session.client();
  for (const named of ids) {
    const webhook_id = await resolveName(session, 'webhook', named);
    await client.webhooks.remove(webhook_id);
    if (session.json) await session.printJson({ webhook_id, removed: true });
    else await session.out.line(`${session.out.colors.green('✓')} ${webhook_id} removed`);
  }
  return EXIT.success;
};

const deliveryState = ({ state, attempts, next_at }: WebhookDelivery, now: Date): string =>
  state === 'pending' && attempts > 0 && next_at !== null ? `again ${relativeTime(next_at, now)}` : state;

const printDeliveries = async (session: Session, id: string, limit: number): Promise<ExitCode> => {
  const client = await session.client();
  const page = await client.webhooks.deliveries(id, { limit }).page();
  if (session.json) {
    await session.printJson(page);
    return EXIT.success;
  }
  await printTable<WebhookDelivery>(session, page.items, {
    empty: 'Nothing was sent there yet.',
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
    if (session.json) await session.printJson(delivery);
    else await session.out.line(`${session.out.colors.green('✓')} ${delivery_id} is sent again`);
  }
  return EXIT.success;
};

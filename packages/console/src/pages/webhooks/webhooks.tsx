import type { CreatedWebhook, Webhook } from '@capstan/contracts';
import { useQuery } from '@tanstack/react-query';
import { Power, Trash2, Webhook as WebhookIcon } from 'lucide-react';
import { useState } from 'react';
import { listQuery, useSend } from '../../api/lists.js';
import { type May, useMay } from '../../api/me.js';
import { Tag } from '../../ui/badge.js';
import { IconButton } from '../../ui/button.js';
import type { Column } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty.js';
import { SelectField, TextField } from '../../ui/field.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { ListPage } from '../../ui/list-page.js';
import { Once } from '../../ui/once.js';
import { SafeText } from '../../ui/safe-text.js';
import { useToast } from '../../ui/toast.js';
import { Deliveries } from './deliveries.js';

const COLUMNS: Column<Webhook>[] = [
  {
    id: 'url',
    header: 'Address',
    width: 'minmax(0, 1fr)',
    cell: ({ url, enabled, disabled_reason }) => (
      <span className="row">
        <span className="truncate">
          <SafeText text={url} />
        </span>
        {enabled ? null : <Tag tone="red">Disabled</Tag>}
        {disabled_reason ? (
          <span className="muted truncate">
            <SafeText text={disabled_reason} />
          </span>
        ) : null}
      </span>
    ),
  },
  { id: 'kind', header: 'Kind', width: '84px', wide: true, cell: ({ kind }) => kind },
  {
    id: 'events',
    header: 'Events',
    width: 'minmax(0, 0.7fr)',
    wide: true,
    cell: ({ events }) => (
      <span className="row">
        {events.map((event) => (
          <Tag key={event}>{event}</Tag>
        ))}
      </span>
    ),
  },
];

export function Webhooks() {
  const webhooks = useQuery(listQuery<Webhook>('webhooks', '/v1/webhooks'));
  const may = useMay('admin', 'operate');
  const [adding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const [open, setOpen] = useState<Webhook | null>(null);
  const [removing, setRemoving] = useState<Webhook | null>(null);
  return (
    <ListPage
      title="Webhooks"
      of={webhooks}
      add="New webhook"
      may={may}
      onAdd={() => setAdding(true)}
      columns={COLUMNS}
      actionsOf={(one) => <WebhookActions webhook={one} may={may} onDelete={() => setRemoving(one)} />}
      idOf={({ webhook_id }) => webhook_id}
      onOpen={(one) => setOpen(one)}
      empty={
        <EmptyState icon={<WebhookIcon />} title="No webhooks">
          <p>A webhook notifies a server of yours or a Slack channel when a call is held, a run fails, and more.</p>
        </EmptyState>
      }
    >
      {adding ? <NewWebhook onClose={() => setAdding(false)} onCreated={setSecret} /> : null}
      {secret ? (
        <Once title="The secret of the webhook" value={secret} onClose={() => setSecret(null)}>
          Receivers check signatures with it. It is not shown again.
        </Once>
      ) : null}
      {open ? <Deliveries webhook={open} onClose={() => setOpen(null)} /> : null}
      {removing ? <DeleteWebhook webhook={removing} onClose={() => setRemoving(null)} /> : null}
    </ListPage>
  );
}

function WebhookActions({ webhook, may, onDelete }: { webhook: Webhook; may: May; onDelete(): void }) {
  const send = useSend('webhooks');
  const say = useToast();
  const { webhook_id, enabled } = webhook;
  const turn = async () => {
    try {
      await send('PATCH', `/v1/webhooks/${webhook_id}`, { enabled: !enabled });
    } catch (error) {
      say.problem('Nothing was changed', error);
    }
  };
  return (
    <span className="row">
      <IconButton icon={<Power />} label={enabled ? 'Disable' : 'Enable'} may={may} onClick={() => void turn()} />
      <IconButton icon={<Trash2 />} label="Delete" may={may} onClick={onDelete} />
    </span>
  );
}

function DeleteWebhook({ webhook, onClose }: { webhook: Webhook; onClose(): void }) {
  const send = useSend('webhooks');
  return (
    <FormDialog
      title="Delete this webhook"
      action="Delete"
      danger
      onClose={onClose}
      onSubmit={() => send('DELETE', `/v1/webhooks/${webhook.webhook_id}`)}
    >
      <p>
        <SafeText text={webhook.url} /> gets no more notifications. Its secret is deleted for good.
      </p>
    </FormDialog>
  );
}

function NewWebhook({ onClose, onCreated }: { onClose(): void; onCreated(secret: string): void }) {
  const send = useSend('webhooks');
  const [url, setUrl] = useState('');
  const [kind, setKind] = useState('standard');
  const [events, setEvents] = useState('hold.*\nrun.failed');
  const [signing_secret, setSigningSecret] = useState('');
  const [users, setUsers] = useState('');
  const submit = async () => {
    const wanted = events.split(/[\s,]+/).filter(Boolean);
    const { secret } = await send<CreatedWebhook>('POST', '/v1/webhooks', {
      url,
      kind,
      events: wanted.length > 0 ? wanted : ['*'],
      ...(kind === 'slack' && signing_secret ? { secret: signing_secret, users: usersIn(users) } : {}),
    });
    if (kind === 'standard') onCreated(secret);
  };
  return (
    <FormDialog title="New webhook" action="Create" onClose={onClose} onSubmit={submit}>
      <TextField
        label="Address"
        value={url}
        onChange={setUrl}
        placeholder={kind === 'email' ? 'mailto:ann@example.com' : 'https://'}
      />
      <SelectField
        label="Kind"
        value={kind}
        onChange={setKind}
        options={[
          ['standard', 'Standard Webhooks'],
          ['slack', 'Slack'],
          ['teams', 'Microsoft Teams'],
          ['email', 'Email'],
        ]}
      />
      {kind === 'slack' ? (
        <>
          <TextField
            label="Signing secret of the Slack app (optional)"
            code
            value={signing_secret}
            onChange={setSigningSecret}
            hint="With it, messages have buttons to approve and reject."
          />
          <TextField
            label="Who decides in Slack"
            code
            lines={3}
            value={users}
            onChange={setUsers}
            placeholder="U024BE7LH=ann"
            hint="One per line: the id of a Slack user, and the actor they decide as"
          />
        </>
      ) : null}
      <TextField
        label="Events"
        code
        lines={4}
        value={events}
        onChange={setEvents}
        hint="One per line: a type, a family such as hold.*, or * for all"
      />
    </FormDialog>
  );
}

const usersIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split(/[\s,]+/)
      .filter(Boolean)
      .map((line) => {
        const [id = '', actor = ''] = line.split('=', 2);
        return [id, actor];
      }),
  );

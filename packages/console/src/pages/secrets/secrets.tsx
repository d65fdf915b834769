import type { Secret } from '@capstan/contracts';
import { useQuery } from '@tanstack/react-query';
import { Lock, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { listQuery, useSend } from '../../api/lists.js';
import { useMay } from '../../api/me.js';
import { IconButton } from '../../ui/button.js';
import type { Column } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty.js';
import { TextField } from '../../ui/field.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { ListPage } from '../../ui/list-page.js';
import { SafeText } from '../../ui/safe-text.js';
import { Time } from '../../ui/time.js';
import { useToast } from '../../ui/toast.js';

const COLUMNS: Column<Secret>[] = [
  {
    id: 'name',
    header: 'Secret',
    width: 'minmax(0, 1fr)',
    cell: ({ name }) => (
      <code>
        <SafeText text={`secret://${name}`} />
      </code>
    ),
  },
  {
    id: 'tools',
    header: 'Tools',
    width: 'minmax(0, 1fr)',
    wide: true,
    cell: ({ tools }) => <Uses of={tools} any="any tool" />,
  },
  {
    id: 'hosts',
    header: 'Hosts',
    width: 'minmax(0, 1fr)',
    wide: true,
    cell: ({ hosts }) => <Uses of={hosts} any="any host" />,
  },
  {
    id: 'updated',
    header: 'Changed',
    width: '150px',
    cell: ({ updated_at, updated_by }) => (
      <>
        <Time at={updated_at} />{' '}
        <span className="muted">
          by <SafeText text={updated_by} />
        </span>
      </>
    ),
  },
];

export function Secrets() {
  const secrets = useQuery(listQuery<Secret>('secrets', '/v1/secrets'));
  const may = useMay('admin');
  const [editing, setEditing] = useState<Secret | 'new' | null>(null);
  const [removing, setRemoving] = useState<Secret | null>(null);
  return (
    <ListPage
      title="Secrets"
      of={secrets}
      add="New secret"
      may={may}
      onAdd={() => setEditing('new')}
      columns={COLUMNS}
      actionsOf={(secret) => (
        <span className="row">
          <IconButton icon={<Pencil />} label={`Replace ${secret.name}`} may={may} onClick={() => setEditing(secret)} />
          <IconButton icon={<Trash2 />} label={`Delete ${secret.name}`} may={may} onClick={() => setRemoving(secret)} />
        </span>
      )}
      idOf={({ name }) => name}
      empty={
        <EmptyState icon={<Lock />} title="No secrets">
          <p>
            Calls name them as <code>secret://name</code>; only the tool gets the value. It never appears in a response,
            a log or a hash.
          </p>
        </EmptyState>
      }
    >
      {editing ? <SecretDialog secret={editing === 'new' ? null : editing} onClose={() => setEditing(null)} /> : null}
      {removing ? <DeleteSecretDialog name={removing.name} onClose={() => setRemoving(null)} /> : null}
    </ListPage>
  );
}

function DeleteSecretDialog({ name, onClose }: { name: string; onClose(): void }) {
  const send = useSend('secrets');
  return (
    <FormDialog
      title={`Delete ${name}`}
      action="Delete"
      danger
      onClose={onClose}
      onSubmit={() => send('DELETE', `/v1/secrets/${encodeURIComponent(name)}`)}
    >
      <p>Calls that refer to it will fail. Its value cannot be restored.</p>
    </FormDialog>
  );
}

const Uses = ({ of, any }: { of: readonly string[] | null; any: string }) =>
  of === null ? <span className="muted">{any}</span> : <SafeText text={of.join(', ')} />;

/** Empty lists stay unchanged, so that a new value never widens access. */
function SecretDialog({ secret, onClose }: { secret: Secret | null; onClose(): void }) {
  const send = useSend('secrets');
  const say = useToast();
  const [name, setName] = useState(secret?.name ?? '');
  const [value, setValue] = useState('');
  const [tools, setTools] = useState((secret?.tools ?? []).join('\n'));
  const [hosts, setHosts] = useState((secret?.hosts ?? []).join('\n'));
  const list = (text: string) => text.split(/[\s,]+/).filter(Boolean);
  const submit = async () => {
    await send('PUT', `/v1/secrets/${encodeURIComponent(name)}`, {
      value,
      ...(tools.trim() ? { tools: list(tools) } : {}),
      ...(hosts.trim() ? { hosts: list(hosts) } : {}),
    });
    say(`secret://${name} is kept`);
  };
  return (
    <FormDialog
      title={secret ? `Replace ${secret.name}` : 'New secret'}
      action="Save"
      onClose={onClose}
      onSubmit={submit}
      may={{ ok: name !== '' && value !== '', why: 'Give a name and a value first.' }}
    >
      {secret ? null : <TextField label="Name" code value={name} onChange={setName} autoFocus />}
      <TextField
        label="Value"
        type="password"
        code
        value={value}
        onChange={setValue}
        hint="It is encrypted, and never shown again."
      />
      <TextField
        label="Tools that may use it"
        code
        lines={2}
        value={tools}
        onChange={setTools}
        hint="One per line; * stands for any characters. Empty: any tool."
      />
      <TextField
        label="Hosts it may be sent to"
        code
        lines={2}
        value={hosts}
        onChange={setHosts}
        hint="One per line. Empty: any host."
      />
    </FormDialog>
  );
}

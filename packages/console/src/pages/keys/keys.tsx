import type { Key, Role } from '@capstan/contracts';
import { useQuery } from '@tanstack/react-query';
import { KeyRound, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { listQuery, useSend } from '../../api/lists.js';
import { useMay, useMe } from '../../api/me.js';
import { Tag } from '../../ui/badge.js';
import { IconButton } from '../../ui/button.js';
import type { Column } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty.js';
import { CheckField, TextField } from '../../ui/field.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { Id } from '../../ui/id.js';
import { ListPage } from '../../ui/list-page.js';
import { useNarrow } from '../../ui/narrow.js';
import { Once } from '../../ui/once.js';
import { SafeText } from '../../ui/safe-text.js';
import { Time } from '../../ui/time.js';
import { Logins } from './logins.js';

const ROLES: readonly (readonly [Role, string])[] = [
  ['submit', 'Submit calls and runs'],
  ['operate', 'Decide, redrive, pause'],
  ['audit', 'Read everything'],
  ['admin', 'All of that, and policy, keys, tools'],
  ['serve', 'Serve tools from your own code'],
  ['scale', 'Read queue sizes, for an autoscaler'],
];
/** As many as fit beside the actor on a phone. */
const SHOWN_ROLES = 2;

const COLUMNS: Column<Key>[] = [
  {
    id: 'actor',
    header: 'Actor',
    width: 'minmax(0, 1fr)',
    cell: ({ actor }) => (
      <strong>
        <SafeText text={actor} />
      </strong>
    ),
  },
  { id: 'tenant', header: 'Tenant', width: '120px', wide: true, cell: ({ tenant }) => <SafeText text={tenant} /> },
  {
    id: 'roles',
    header: 'Roles',
    width: 'minmax(0, 1fr)',
    cell: ({ roles }) => <Roles of={roles} />,
  },
  { id: 'id', header: 'Id', width: '150px', wide: true, cell: ({ key_id }) => <Id of={key_id} /> },
  {
    id: 'created',
    header: 'Created',
    width: '90px',
    wide: true,
    cell: ({ created_at }) => <Time at={created_at} />,
  },
];

export function Keys() {
  const keys = useQuery(listQuery<Key>('keys', '/v1/keys'));
  const may = useMay('admin');
  const [adding, setAdding] = useState(false);
  const [created, setCreated] = useState<string | null>(null);
  const [removing, setRemoving] = useState<Key | null>(null);
  return (
    <ListPage
      title="Keys"
      of={keys}
      add="New key"
      may={may}
      onAdd={() => setAdding(true)}
      columns={COLUMNS}
      actionsOf={(key) => (
        <IconButton
          icon={<Trash2 />}
          label={`Delete the key of ${key.actor}`}
          may={may}
          onClick={() => setRemoving(key)}
        />
      )}
      actions_width="34px"
      idOf={({ key_id }) => key_id}
      empty={<EmptyState icon={<KeyRound />} title="There are no keys" />}
    >
      {may.ok ? <Logins /> : null}
      {adding ? <NewKeyDialog onClose={() => setAdding(false)} onCreated={setCreated} /> : null}
      {created ? (
        <Once title="The new key" value={created} onClose={() => setCreated(null)}>
          Copy it now: only its hash is stored, so it is not shown again.
        </Once>
      ) : null}
      {removing ? <DeleteKeyDialog of={removing} onClose={() => setRemoving(null)} /> : null}
    </ListPage>
  );
}

function DeleteKeyDialog({ of: { key_id, actor }, onClose }: { of: Key; onClose(): void }) {
  const send = useSend('keys');
  return (
    <FormDialog
      title={`Delete the key of ${actor}`}
      action="Delete"
      danger
      onClose={onClose}
      onSubmit={() => send('DELETE', `/v1/keys/${encodeURIComponent(key_id)}`)}
    >
      <p>
        It stops working at once, and everybody who signed in to the console with it is signed out. This cannot be
        undone.
      </p>
    </FormDialog>
  );
}

function Roles({ of: roles }: { of: readonly Role[] }) {
  const shown = useNarrow() ? SHOWN_ROLES : roles.length;
  const more = roles.length - shown;
  const strongest_first = [...roles].sort((one, other) => Number(other === 'admin') - Number(one === 'admin'));
  return (
    <span className="row" title={roles.join(', ')}>
      {strongest_first.slice(0, shown).map((role) => (
        <Tag key={role} tone={role === 'admin' ? 'amber' : 'grey'}>
          {role}
        </Tag>
      ))}
      {more > 0 ? <Tag>+{more}</Tag> : null}
    </span>
  );
}

function NewKeyDialog({ onClose, onCreated }: { onClose(): void; onCreated(key: string): void }) {
  const me = useMe();
  const send = useSend('keys');
  const [tenant, setTenant] = useState(me?.tenant ?? 'default');
  const [actor, setActor] = useState('');
  const [roles, setRoles] = useState<readonly Role[]>(['submit']);
  const submit = async () => {
    const { key } = await send<Key & { key: string }>('POST', '/v1/keys', { tenant, actor, roles });
    onCreated(key);
  };
  return (
    <FormDialog
      title="New key"
      action="Create"
      onClose={onClose}
      onSubmit={submit}
      may={{ ok: actor.trim() !== '' && roles.length > 0, why: 'Name an actor and a role first.' }}
    >
      <TextField
        label="Actor"
        hint="Who the key is for. Approvals are counted by actor."
        value={actor}
        onChange={setActor}
        autoFocus
      />
      <TextField label="Tenant" value={tenant} onChange={setTenant} />
      <fieldset className="stack tight">
        <legend className="field label">Roles</legend>
        {ROLES.map(([role, what]) => (
          <CheckField
            key={role}
            label={
              <span>
                <strong>{role}</strong> <span className="muted">{what}</span>
              </span>
            }
            value={roles.includes(role)}
            onChange={(on) => setRoles(on ? [...roles, role] : roles.filter((each) => each !== role))}
          />
        ))}
      </fieldset>
    </FormDialog>
  );
}

import type { ActiveLogin } from '@capstan/contracts';
import { useQuery } from '@tanstack/react-query';
import { LogOut } from 'lucide-react';
import { useState } from 'react';
import { listQuery, useSend } from '../../api/lists.js';
import { Tag } from '../../ui/badge.js';
import { IconButton } from '../../ui/button.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { Panel } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { Time, Until } from '../../ui/time.js';

/** The current logins to the console, each of which can be ended. */
export function Logins() {
  const { data } = useQuery(listQuery<ActiveLogin>('logins', '/v1/logins'));
  const send = useSend('logins');
  const [ending, setEnding] = useState<ActiveLogin | null>(null);
  if (!data || data.length === 0) return null;
  return (
    <div className="docked">
      <Panel title="Signed in to the console" sub={String(data.length)} flush>
        <div className="mini-table">
          {data.map((login) => (
            <div key={login.login_id} className="mini-row">
              <strong className="truncate">
                <SafeText text={login.actor} />
              </strong>
              {login.current ? <Tag tone="blue">this browser</Tag> : null}
              <span className="muted grow truncate">
                <SafeText text={login.identity ? `through ${login.identity.iss}` : 'with a key'} />
              </span>
              <span className="muted wide-only">
                signed in <Time at={login.created_at} />
              </span>
              <span className="wide-only">
                <Until at={login.expires_at} />
              </span>
              <IconButton icon={<LogOut />} label={`Sign ${login.actor} out`} onClick={() => setEnding(login)} />
            </div>
          ))}
        </div>
        {ending ? (
          <FormDialog
            title={`Sign ${ending.actor} out`}
            action="Sign out"
            danger
            onClose={() => setEnding(null)}
            onSubmit={() => send('DELETE', `/v1/logins/${encodeURIComponent(ending.login_id)}`)}
          >
            <p>
              {ending.current
                ? 'This is your own login: you are asked for a key again.'
                : 'They are signed out at once, and can sign in again.'}
            </p>
          </FormDialog>
        ) : null}
      </Panel>
    </div>
  );
}

import type { Hold, HoldEntry } from '@capstan/contracts';
import { useRef, useState } from 'react';
import { useHoldActions } from '../../api/holds.js';
import { useMay } from '../../api/me.js';
import { useKeys } from '../../app/keys.js';
import { Avatar } from '../../app/me-menu.js';
import { Tag } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { EmptyState } from '../../ui/empty.js';
import { TextField } from '../../ui/field.js';
import { Panel } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { Time } from '../../ui/time.js';
import { useToast } from '../../ui/toast.js';

const DID: Record<HoldEntry['kind'], string> = {
  release: 'approved',
  answer: 'answered',
  reject: 'rejected',
  comment: 'said',
  edit: 'changed the inputs',
  return: 'sent it back',
  withdraw: 'withdrew it',
};

/** Votes, edits and comments, oldest first. */
export function History({ hold }: { hold: Hold }) {
  const { comment } = useHoldActions();
  const say = useToast();
  const may = useMay('submit', 'operate');
  const [text, setText] = useState('');
  const form = useRef<HTMLFormElement>(null);
  useKeys({ c: () => form.current?.querySelector('textarea')?.focus() });
  const entries = [...hold.votes, ...hold.comments, ...hold.changes].sort((one, other) => (one.at < other.at ? -1 : 1));
  const send = async () => {
    if (text.trim() === '') return;
    try {
      await comment(hold.hold_id, text);
      setText('');
    } catch (error) {
      say.problem('The comment was not saved', error);
    }
  };
  return (
    <Panel title="Decisions and comments">
      <div className="entries">
        {entries.length === 0 ? <EmptyState tight title="No decisions or comments yet" /> : null}
        {entries.map((entry) => (
          <div key={`${entry.at} ${entry.actor} ${entry.kind}`} className="entry">
            <Avatar name={entry.actor} />
            <div className="entry-body">
              <div className="row wrap">
                <strong>
                  <SafeText text={entry.actor} />
                </strong>
                <span>
                  {DID[entry.kind]}
                  {entry.changed ? `: ${entry.changed.join(', ')}` : ''}
                </span>
                {entry.grant_id ? <Tag>by a grant</Tag> : null}
                {entry.kind === 'release' && !entry.counts ? <Tag tone="amber">no longer counts</Tag> : null}
                <span className="muted">
                  <Time at={entry.at} />
                </span>
              </div>
              {entry.comment ? (
                <div className="entry-text">
                  <SafeText text={entry.comment} line={false} />
                </div>
              ) : null}
            </div>
          </div>
        ))}
        <form
          ref={form}
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            void send();
          }}
        >
          <TextField label="Comment" value={text} onChange={setText} lines={2} />
          <div>
            <Button submit may={may}>
              Comment
            </Button>
          </div>
        </form>
      </div>
    </Panel>
  );
}

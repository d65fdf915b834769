import type { Attempt } from '@capstan/contracts';
import { inWords, Tag } from '../../ui/badge.js';
import { EmptyState } from '../../ui/empty.js';
import { SafeText } from '../../ui/safe-text.js';
import { duration, Time } from '../../ui/time.js';

export const Attempts = ({ of, max }: { of: readonly Attempt[]; max: number }) =>
  of.length === 0 ? (
    <EmptyState tight title="No worker has started it yet" />
  ) : (
    <div className="panel">
      <div className="mini-table">
        {of.map(({ attempt, worker_id, started_at, ended_at, outcome, error }) => (
          <div key={attempt} className="mini-row">
            <span className="num">
              {attempt} of {max}
            </span>
            <Tag tone={outcome === 'succeeded' ? 'green' : outcome === null ? 'blue' : 'red'}>
              {inWords(outcome ?? 'running')}
            </Tag>
            <span className="muted">
              <Time at={started_at} />
            </span>
            <span className="num">{ended_at ? duration(Date.parse(ended_at) - Date.parse(started_at)) : ''}</span>
            <span className="grow truncate">{error ? <SafeText text={error} /> : null}</span>
            <code className="muted wide-only">
              <SafeText text={worker_id} />
            </code>
          </div>
        ))}
      </div>
    </div>
  );

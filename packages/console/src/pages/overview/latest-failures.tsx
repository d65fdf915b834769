import type { Invocation, Page as PageOf } from '@capstan/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { get } from '../../api/request.js';
import { Status } from '../../ui/badge.js';
import { EmptyState } from '../../ui/empty.js';
import { ListBody } from '../../ui/list-body.js';
import { Panel } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { Time } from '../../ui/time.js';

export function LatestFailures() {
  const failures = useQuery({
    queryKey: ['stats', 'failures'],
    queryFn: ({ signal }) =>
      get<PageOf<Invocation>>('/v1/invocations', { status: ['failed', 'timed_out', 'ambiguous'], limit: 8 }, signal),
  });
  return (
    <Panel
      title="Latest failures"
      actions={
        <Link to="/invocations" search={{ status: 'failed,timed_out,ambiguous' }}>
          All
        </Link>
      }
      flush
    >
      <ListBody of={failures}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState tight title="No failures" />
          ) : (
            <div className="mini-table">
              {items.map(({ invocation_id, status, tool_id, result, created_at }) => (
                <Link key={invocation_id} to="/invocations/$id" params={{ id: invocation_id }} className="mini-row">
                  <Status of={status} plain />
                  <span className="grow truncate">
                    <SafeText text={tool_id} />{' '}
                    <span className="muted">
                      <SafeText text={result?.error ?? ''} />
                    </span>
                  </span>
                  <span className="muted">
                    <Time at={created_at} />
                  </span>
                </Link>
              ))}
            </div>
          )
        }
      </ListBody>
    </Panel>
  );
}

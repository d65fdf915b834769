import type { WorkerInfo } from '@capstan/contracts';
import { Link } from '@tanstack/react-router';
import { Status, Tag } from '../../ui/badge.js';
import { SafeText } from '../../ui/safe-text.js';
import { Time } from '../../ui/time.js';
import { Bar } from './bar.js';

/** A worker, and the calls of the tenant that it is running. */
export const WorkerRow = ({ worker }: { worker: WorkerInfo }) => (
  <div className="mini-row worker">
    <Status of={worker.status} plain />
    <div className="grow stack tight worker-what">
      <span className="truncate">
        <code>
          <SafeText text={worker.worker_id} />
        </code>{' '}
        <span className="muted wide-only">
          <SafeText text={worker.host} />
          {worker.pid > 0 ? ` · ${worker.pid}` : ''}
        </span>
      </span>
      {/* While the installation is updated, the answer may be that of an older gateway. */}
      {worker.calls?.length > 0 ? <Calls of={worker} /> : null}
    </div>
    <span className="row wrap wide-only">
      {worker.runners.map((runner) => (
        <Tag key={runner}>{runner}</Tag>
      ))}
    </span>
    <span className="worker-busy">
      <Bar used={worker.running} of={worker.concurrency} />
    </span>
    <span className="muted wide-only">
      seen <Time at={worker.seen_at} />
    </span>
  </div>
);

const SHOWN = 3;

const Calls = ({ of: { calls, running } }: { of: WorkerInfo }) => {
  const shown = calls.slice(0, SHOWN);
  return (
    <span className="row wrap worker-calls">
      {shown.map(({ invocation_id, tool_id, since }) => (
        <span key={invocation_id}>
          <Link to="/invocations/$id" params={{ id: invocation_id }}>
            <SafeText text={tool_id} />
          </Link>{' '}
          <span className="muted">
            <Time at={since} />
          </span>
        </span>
      ))}
      {running > shown.length ? (
        <span className="muted">and {(running - shown.length).toLocaleString()} more</span>
      ) : null}
    </span>
  );
};

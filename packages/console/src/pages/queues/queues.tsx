import type { QueueInfo, WorkerInfo } from '@capstan/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CirclePause, CirclePlay, Server } from 'lucide-react';
import { useMemo, useState } from 'react';
import { listQuery, useSend } from '../../api/lists.js';
import { useMay } from '../../api/me.js';
import { Status, Tag } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { EmptyState } from '../../ui/empty.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { ListBody } from '../../ui/list-body.js';
import { Page } from '../../ui/page.js';
import { Panel } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { Time } from '../../ui/time.js';
import { useToast } from '../../ui/toast.js';
import './queues.css';

export function Queues() {
  const queues = useQuery({ ...listQuery<QueueInfo>('queues', '/v1/queues'), refetchInterval: 10_000 });
  const workers = useQuery({ ...listQuery<WorkerInfo>('workers', '/v1/workers'), refetchInterval: 10_000 });
  const slots = useMemo(() => slotsByRunner(workers.data ?? []), [workers.data]);
  return (
    <Page title="Queues and workers">
      <div className="stack wide sections">
        <Panel title="Queues" flush>
          <ListBody of={queues}>
            {(items) => (
              <div className="queue-table">
                <div className="queue-row queue-head">
                  <span>Runner</span>
                  <span className="numeric">Waiting</span>
                  <span className="numeric">Running</span>
                  <span className="numeric wide-only">Deferred</span>
                  <span className="numeric wide-only">Held</span>
                  <span className="wide-only">Slots in use</span>
                  <span className="numeric">Workers</span>
                  <span />
                </div>
                {items.map((queue) => (
                  <QueueRow key={queue.runner} queue={queue} slots={slots.get(queue.runner) ?? 0} />
                ))}
              </div>
            )}
          </ListBody>
        </Panel>
        <Panel title="Workers" sub={workers.data ? `${workers.data.length}` : null} flush>
          <ListBody of={workers}>
            {(items) =>
              items.length === 0 ? (
                <EmptyState icon={<Server />} title="No worker is here">
                  <p>
                    Start one with <code>capstan worker --runner exec</code>.
                  </p>
                </EmptyState>
              ) : (
                <div className="mini-table">
                  {items.map((worker) => (
                    <WorkerRow key={worker.worker_id} worker={worker} />
                  ))}
                </div>
              )
            }
          </ListBody>
        </Panel>
      </div>
    </Page>
  );
}

/** A worker of several types shares its slots among them. */
const slotsByRunner = (workers: readonly WorkerInfo[]): Map<string, number> => {
  const slots = new Map<string, number>();
  for (const { runners, concurrency, status } of workers)
    if (status === 'alive') for (const runner of runners) slots.set(runner, (slots.get(runner) ?? 0) + concurrency);
  return slots;
};

function QueueRow({ queue, slots }: { queue: QueueInfo; slots: number }) {
  const send = useSend('queues');
  const say = useToast();
  const may = useMay('operate');
  const [asking, setAsking] = useState(false);
  const { runner, paused, queued, running, deferred, held, workers } = queue;
  const set = async (action: 'pause' | 'resume') => {
    await send('POST', `/v1/queues/${runner}/${action}`);
    say(action === 'pause' ? `${runner} is paused` : `${runner} goes on`);
  };
  return (
    <div className="queue-row">
      <span className="row">
        <strong>{runner}</strong>
        {paused ? <Tag tone="amber">Paused</Tag> : null}
        {workers === 0 ? <Tag tone={queued > 0 ? 'red' : 'grey'}>no worker</Tag> : null}
      </span>
      <span className="numeric">
        <Link to="/invocations" search={{ runner, status: 'queued' }}>
          {queued.toLocaleString()}
        </Link>
      </span>
      <span className="numeric">{running.toLocaleString()}</span>
      <span className="numeric wide-only">{deferred.toLocaleString()}</span>
      <span className="numeric wide-only">{held.toLocaleString()}</span>
      <span className="wide-only">
        <Bar used={running} of={slots} />
      </span>
      <span className="numeric">{workers}</span>
      <span className="numeric">
        {paused ? (
          <Button
            size="small"
            icon={<CirclePlay />}
            may={may}
            onClick={() => void set('resume').catch((error: unknown) => say.problem('It stays paused', error))}
          >
            Resume
          </Button>
        ) : (
          <Button size="small" icon={<CirclePause />} may={may} onClick={() => setAsking(true)}>
            Pause
          </Button>
        )}
      </span>
      {asking ? (
        <FormDialog
          title={`Pause ${runner}`}
          action="Pause"
          onClose={() => setAsking(false)}
          onSubmit={() => set('pause')}
        >
          <p>
            Workers finish the {running.toLocaleString()} calls that they run, and start nothing more of this type. The{' '}
            {queued.toLocaleString()} that wait stay; Resume takes them up again.
          </p>
        </FormDialog>
      ) : null}
    </div>
  );
}

export const Bar = ({ used, of }: { used: number; of: number }) => (
  <span className="usage">
    <span className="usage-track" aria-hidden="true">
      <span
        className={of > 0 && used >= of ? 'full' : ''}
        style={{ width: `${Math.min(100, of > 0 ? (100 * used) / of : 0)}%` }}
      />
    </span>
    <span className="num muted">
      {used.toLocaleString()} of {of.toLocaleString()}
    </span>
  </span>
);

const WorkerRow = ({ worker }: { worker: WorkerInfo }) => (
  <div className="mini-row worker">
    <Status of={worker.status} plain />
    <span className="grow truncate">
      <code>
        <SafeText text={worker.worker_id} />
      </code>{' '}
      <span className="muted wide-only">
        <SafeText text={worker.host} /> · {worker.pid}
      </span>
    </span>
    <span className="row wrap wide-only">
      {worker.runners.map((runner) => (
        <Tag key={runner}>{runner}</Tag>
      ))}
    </span>
    <span className="worker-busy">
      <Bar used={worker.running} of={worker.concurrency * worker.runners.length} />
    </span>
    <span className="muted wide-only">
      seen <Time at={worker.seen_at} />
    </span>
  </div>
);

import type { QueueInfo, WorkerInfo } from '@capstan/contracts';
import { HOUR_MS } from '@capstan/contracts/time';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CirclePause, CirclePlay, Server } from 'lucide-react';
import { useState } from 'react';
import { listQuery, useSend } from '../../api/lists.js';
import { useMay } from '../../api/me.js';
import { get } from '../../api/request.js';
import { statsQuery } from '../../api/stats.js';
import { Tag } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { EmptyState } from '../../ui/empty.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { ListBody } from '../../ui/list-body.js';
import { Page } from '../../ui/page.js';
import { Panel } from '../../ui/panel.js';
import { shortSpan, useNow } from '../../ui/time.js';
import { Tip } from '../../ui/tip.js';
import { useToast } from '../../ui/toast.js';
import { Bar } from './bar.js';
import { WorkerRow } from './worker-row.js';
import './queues.css';

const RATE_MINUTES = 5;

/** Redis or Postgres. A gateway that is not ready does not say. */
const kindQuery = queryOptions({
  queryKey: ['queue-kind'],
  queryFn: async ({ signal }) =>
    (await get<{ queue: { kind: 'redis' | 'postgres' } }>('/readyz', {}, signal)).queue.kind,
  staleTime: 600_000,
  retry: false,
});

export function Queues() {
  const queues = useQuery({ ...listQuery<QueueInfo>('queues', '/v1/queues'), refetchInterval: 10_000 });
  const workers = useQuery({ ...listQuery<WorkerInfo>('workers', '/v1/workers'), refetchInterval: 10_000 });
  const { data: kind } = useQuery(kindQuery);
  const { data: stats } = useQuery(statsQuery(HOUR_MS, 'runner'));
  const since = useNow() - RATE_MINUTES * 60_000;
  const rateOf = (runner: string): number => {
    const points = stats?.series.find((series) => series.runner === runner)?.points ?? [];
    const recent = points.filter(({ t }) => Date.parse(t) >= since);
    return recent.reduce((sum, { count }) => sum + count, 0) / RATE_MINUTES;
  };
  return (
    <Page title="Queues and workers">
      <div className="stack wide sections">
        <Panel title="Queues" sub={kind === undefined ? null : kind === 'redis' ? 'in Redis' : 'in Postgres'} flush>
          <ListBody of={queues}>
            {(items) => (
              <div className="queue-table">
                <div className="queue-row queue-head">
                  <span>Runner</span>
                  <span className="numeric">Waiting</span>
                  <span className="numeric">Oldest</span>
                  <span className="numeric">Running</span>
                  <span className="numeric wide-only">Deferred</span>
                  <span className="numeric wide-only">Held</span>
                  <span className="numeric wide-only">
                    <Tip text={`Calls of your tenant that ended in the last ${RATE_MINUTES} minutes`}>
                      <span>A minute</span>
                    </Tip>
                  </span>
                  <span className="wide-only">Slots in use</span>
                  <span className="numeric wide-only">Workers</span>
                  <span />
                </div>
                {items.map((queue) => (
                  <QueueRow key={queue.runner} queue={queue} rate={rateOf(queue.runner)} />
                ))}
              </div>
            )}
          </ListBody>
        </Panel>
        <Panel title="Workers" sub={workers.data ? `${workers.data.length}` : null} flush>
          <ListBody of={workers}>
            {(items) =>
              items.length === 0 ? (
                <EmptyState icon={<Server />} title="No workers">
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

function QueueRow({ queue, rate }: { queue: QueueInfo; rate: number }) {
  const send = useSend('queues');
  const say = useToast();
  const may = useMay('operate');
  const [asking, setAsking] = useState(false);
  const { runner, paused, queued, running, deferred, held, workers, oldest_wait_s = 0, slots = 0 } = queue;
  const set = async (action: 'pause' | 'resume') => {
    const path = `/v1/queues/${encodeURIComponent(runner)}`;
    await send('POST', `${path}/${action}`);
    if (action === 'pause') say(`${runner} is paused`, undefined, () => send('POST', `${path}/resume`));
    else say(`${runner} is resumed`, undefined, () => send('POST', `${path}/pause`));
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
      <span className="numeric">{oldest_wait_s > 0 ? shortSpan(oldest_wait_s * 1000) : '—'}</span>
      <span className="numeric">{running.toLocaleString()}</span>
      <span className="numeric wide-only">{deferred.toLocaleString()}</span>
      <span className="numeric wide-only">{held.toLocaleString()}</span>
      <span className="numeric wide-only">{rate.toLocaleString(undefined, { maximumFractionDigits: 1 })}</span>
      <span className="wide-only">
        <Bar used={running} of={slots} />
      </span>
      <span className="numeric wide-only">{workers}</span>
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

import { Link } from '@tanstack/react-router';
import type { Stats, StatsNow } from '../../api/stats.js';
import { Tag } from '../../ui/badge.js';
import { Panel } from '../../ui/panel.js';
import { duration, Time } from '../../ui/time.js';

/** Waiting and ended calls and their durations, by runner type. */
export const RunnerTable = ({ now, stats }: { now: StatsNow; stats: Stats }) => (
  <Panel title="By runner type" flush>
    <div className="by-runner">
      <div className="by-runner-row by-runner-head">
        <span>Runner</span>
        <span>Waiting</span>
        <span className="wide-only">Oldest</span>
        <span>Ended</span>
        <span>Wrong</span>
        <span className="wide-only">Run p95</span>
      </div>
      {now.runners.map(({ runner, queued, workers, paused, oldest_waiting_at }) => {
        const points = stats.series.find((series) => series.runner === runner)?.points ?? [];
        const ended = points.reduce((sum, { count }) => sum + count, 0);
        const failed = points.reduce((sum, point) => sum + point.failed, 0);
        const slow = Math.max(0, ...points.flatMap(({ run_p95_ms }) => run_p95_ms ?? []));
        return (
          <div key={runner} className="by-runner-row">
            <span className="row">
              <Link to="/invocations" search={{ runner }}>
                {runner}
              </Link>
              {workers === 0 ? <Tag>no worker</Tag> : paused ? <Tag tone="amber">Paused</Tag> : null}
            </span>
            <span className="num">{queued.toLocaleString()}</span>
            <span className="wide-only muted">{oldest_waiting_at ? <Time at={oldest_waiting_at} /> : '—'}</span>
            <span className="num">{ended.toLocaleString()}</span>
            <span className="num">
              {failed > 0 ? (
                <Link className="wrong" to="/invocations" search={{ runner, status: 'failed,timed_out,ambiguous' }}>
                  {failed.toLocaleString()}
                </Link>
              ) : (
                '0'
              )}
            </span>
            <span className="num wide-only">{ended > 0 ? duration(slow) : '—'}</span>
          </div>
        );
      })}
    </div>
  </Panel>
);

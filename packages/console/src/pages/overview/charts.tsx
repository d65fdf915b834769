import { lazy, Suspense, useMemo } from 'react';
import type { Stats } from '../../api/stats.js';
import { Loading } from '../../ui/empty.js';
import { Panel } from '../../ui/panel.js';
import { duration } from '../../ui/time.js';
import { gridOf, total, worst } from './series.js';

const Chart = lazy(async () => ({ default: (await import('../../ui/chart.js')).Chart }));

const count = (value: number): string => value.toLocaleString(undefined, { maximumFractionDigits: 1 });
const ms = (value: number): string => (value === 0 ? '0' : duration(value));

export function Charts({ stats, span_ms }: { stats: Stats; span_ms: number }) {
  const { times, ended, waits, runs } = useMemo(() => {
    const grid = gridOf(stats, span_ms);
    const minutes = stats.step_s / 60;
    return {
      times: grid.times,
      ended: [
        {
          label: 'Ended',
          colour: '--accent',
          fill: true,
          values: total(stats, grid, (point) => point.count / minutes),
        },
        { label: 'Went wrong', colour: '--red-mark', values: total(stats, grid, (point) => point.failed / minutes) },
      ],
      waits: [
        {
          label: 'Median',
          colour: '--blue-mark',
          values: worst(stats, grid, (point) => point.wait_p50_ms),
        },
        {
          label: '95th percentile',
          colour: '--purple-mark',
          dash: true,
          values: worst(stats, grid, (point) => point.wait_p95_ms),
        },
      ],
      runs: [
        { label: 'Median', colour: '--blue-mark', values: worst(stats, grid, (point) => point.run_p50_ms) },
        {
          label: '95th percentile',
          colour: '--purple-mark',
          dash: true,
          values: worst(stats, grid, (point) => point.run_p95_ms),
        },
      ],
    };
  }, [stats, span_ms]);
  return (
    <div className="charts">
      <Panel title="Throughput" sub="calls a minute">
        <Suspense fallback={<Loading />}>
          <Chart label="Calls a minute" times={times} lines={ended} format={count} />
        </Suspense>
      </Panel>
      <Panel title="Queue wait" sub="of the slowest runner type">
        <Suspense fallback={<Loading />}>
          <Chart label="Queue wait" times={times} lines={waits} format={ms} />
        </Suspense>
      </Panel>
      <Panel title="Run time" sub="of the slowest runner type">
        <Suspense fallback={<Loading />}>
          <Chart label="Run time" times={times} lines={runs} format={ms} />
        </Suspense>
      </Panel>
    </div>
  );
}

import type { RunDetail, Step } from '@capstan/contracts';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { isOver } from '../../api/runs.js';
import { inWords, toneOf } from '../../ui/badge.js';
import { EmptyState } from '../../ui/empty.js';
import { useNarrow } from '../../ui/narrow.js';
import { SafeText } from '../../ui/safe-text.js';
import { duration, useNow } from '../../ui/time.js';
import type { Group } from './plan-steps.js';

type Props = {
  run: RunDetail;
  groups: readonly Group[];
  selected: string | undefined;
  onSelect(step_id: string): void;
};
type Bar = { key: string; group: Group; step: Step; ready: number; start: number | null; end: number | null };

const TICKS = 4;
const NARROW_TICKS = 1;

/** When each step ran, with its waiting time in gray. */
export function Timeline({ run, groups, selected, onSelect }: Props) {
  const now = useNow();
  const narrow = useNarrow();
  const ticks = narrow ? NARROW_TICKS : TICKS;
  const scroller = useRef<HTMLDivElement>(null);
  const from = Date.parse(run.created_at);
  const bars = barsOf(groups, from);
  const last = Math.max(
    ...bars.map(({ end, start }) => end ?? start ?? 0),
    run.finished_at ? Date.parse(run.finished_at) : 0,
  );
  const to = Math.max(from + 1, isOver(run.status) ? last : now);
  const part = (ms: number): string => `${(100 * (ms - from)) / (to - from)}%`;
  const virtual = useVirtualizer({
    count: bars.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (narrow ? 36 : 30),
    overscan: 20,
  });
  if (bars.length === 0) return <EmptyState title="Nothing has started yet" />;
  return (
    <div ref={scroller} className="table" tabIndex={0} role="region" aria-label="Timeline">
      <div className="gantt gantt-axis" aria-hidden="true">
        <span>Step</span>
        <span className="ticks num">
          {Array.from({ length: ticks + 1 }, (_, tick) =>
            tick === 0 ? '0' : duration(((to - from) * tick) / ticks),
          ).map((text, tick) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: ticks have no other name
            <span key={tick} style={{ left: `${(100 * tick) / ticks}%` }}>
              {text}
            </span>
          ))}
        </span>
        <span>Took</span>
      </div>
      <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {virtual.getVirtualItems().map((item) => {
          const bar = bars[item.index];
          if (!bar) return null;
          const { key, group, step, ready, start, end } = bar;
          const stop = end ?? (isOver(run.status) ? to : now);
          const took = step.reused_from ? 're-used' : start === null ? '' : duration(step.duration_ms ?? stop - start);
          return (
            <button
              key={key}
              type="button"
              className="gantt"
              data-chosen={group.step_id === selected || undefined}
              style={{ position: 'absolute', top: 0, transform: `translateY(${item.start}px)` }}
              onClick={() => onSelect(group.step_id)}
            >
              <span className="truncate">
                <SafeText text={group.title} />
                {step.element === null ? null : <span className="muted"> [{step.element}]</span>}
                <span className="sr-only">, {inWords(step.status)}, </span>
              </span>
              <span className="gantt-track">
                <span
                  className="gantt-wait"
                  style={{ left: part(ready), width: `calc(${part(start ?? stop)} - ${part(ready)})` }}
                />
                {start === null ? null : (
                  <span
                    className={`gantt-bar tone-${toneOf(step.status)}`}
                    style={{ left: part(start), width: `calc(${part(stop)} - ${part(start)})` }}
                  />
                )}
              </span>
              <span className="num muted">{took}</span>
            </button>
          );
        })}
      </div>
    </div>
  );
}

/** A step can start when the last step it needs has ended. */
function barsOf(groups: readonly Group[], from: number): Bar[] {
  const ended = groups.map(({ steps }) =>
    Math.max(0, ...steps.map(({ finished_at }) => (finished_at ? Date.parse(finished_at) : 0))),
  );
  return groups.flatMap((group) => {
    const ready = Math.max(from, ...group.needs.map((before) => ended[before] ?? from));
    return group.steps
      .filter(({ status }) => status !== 'pending' && status !== 'skipped')
      .map((step) => {
        const end = step.finished_at === null ? null : Date.parse(step.finished_at);
        const started = step.started_at === null ? null : Date.parse(step.started_at);
        // Use the duration of the step itself, so that the page shows the same duration everywhere.
        const start = end === null || started === null || step.duration_ms === null ? started : end - step.duration_ms;
        return {
          key: `${step.index} ${step.element}`,
          group,
          step,
          ready: Math.min(ready, start ?? ready),
          start,
          end,
        };
      });
  });
}

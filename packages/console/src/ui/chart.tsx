import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { useTheme } from '../app/theme.js';
import 'uplot/dist/uPlot.min.css';
import './chart.css';

export type Line = { label: string; colour: string; values: (number | null)[]; fill?: boolean; dash?: boolean };
type Props = {
  label: string;
  /** Seconds since 1970, in order. */
  times: number[];
  lines: readonly Line[];
  format(value: number): string;
  height?: number;
};

const colourOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A line chart over time. Its numbers are also in a table, for screen readers. */
export function Chart({ label, times, lines, format, height = 180 }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const theme = useTheme();
  const names = lines.map(({ label: name, colour }) => `${name} ${colour}`).join(',');

  // biome-ignore lint/correctness/useExhaustiveDependencies: new numbers are handed over below; other lines, or colours, are another chart
  useEffect(() => {
    const parent = box.current;
    if (!parent) return;
    const grid = { stroke: colourOf('--line'), width: 1 };
    const axis = { stroke: colourOf('--text-3'), font: '11px system-ui', grid, ticks: { show: false } };
    const chart = new uPlot(
      {
        width: parent.clientWidth,
        height,
        cursor: { points: { size: 6 }, y: false },
        legend: { live: true },
        scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
        axes: [
          {
            ...axis,
            space: 70,
            values: (_, ticks, __, ___, step) => ticks.map((at, tick) => timeOf(at, ticks[tick - 1], step)),
          },
          { ...axis, size: 58, values: (_, values) => values.map(format) },
        ],
        series: [
          {},
          ...lines.map(({ label: name, colour, fill, dash }) => ({
            label: name,
            stroke: colourOf(colour),
            width: 1.6,
            ...(dash ? { dash: [4, 3] } : {}),
            ...(fill ? { fill: `color-mix(in srgb, ${colourOf(colour)} 12%, transparent)` } : {}),
            spanGaps: true,
            points: { show: false },
            // Without a cursor, the latest value.
            value: (plot: uPlot, value: number | null, of: number, at: number | null) => {
              const shown = at === null ? latest(plot.data[of]) : value;
              return shown === null ? '—' : format(shown);
            },
          })),
        ],
      },
      dataOf(times, lines),
      parent,
    );
    plot.current = chart;
    const observer = new ResizeObserver(() => chart.setSize({ width: parent.clientWidth, height }));
    observer.observe(parent);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [names, theme, height]);
  useEffect(() => {
    plot.current?.setData(dataOf(times, lines));
  }, [times, lines]);

  const last = lines.map(({ label: name, values }) => `${name} ${format(values.at(-1) ?? 0)}`).join(', ');
  return (
    <figure className="chart" aria-label={`${label}, latest: ${last}`}>
      <div ref={box} aria-hidden="true" />
    </figure>
  );
}

const latest = (values: uPlot.AlignedData[number] | undefined): number | null =>
  Array.from(values ?? []).findLast((value) => value !== null && value !== undefined) ?? null;

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

/** The time of a tick in the format of the reader, with the date where a day begins. */
function timeOf(at: number, before: number | undefined, step_s: number): string {
  const date = new Date(at * 1000);
  if (step_s >= 86_400) return day.format(date);
  const same_day = before !== undefined && new Date(before * 1000).toDateString() === date.toDateString();
  return same_day ? clock.format(date) : `${clock.format(date)}\n${day.format(date)}`;
}

const dataOf = (times: number[], lines: readonly Line[]): uPlot.AlignedData => [
  times,
  ...lines.map(({ values }) => values),
];

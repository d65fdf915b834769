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
          { ...axis, space: 70 },
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
            value: (_: uPlot, value: number | null) => (value === null ? '—' : format(value)),
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

const dataOf = (times: number[], lines: readonly Line[]): uPlot.AlignedData => [
  times,
  ...lines.map(({ values }) => values),
];

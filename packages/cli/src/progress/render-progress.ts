import { formatCount } from '../format/count.js';
import { formatDuration } from '../format/duration.js';
import type { Colors } from '../output.js';

export type ProgressState = {
  label: string;
  done: number;
  /** From 0 to 1, or null if the total is unknown. */
  fraction: number | null;
  rate: number;
  eta_ms: number | null;
};

const BAR_WIDTH = 28;
const ROOM_FOR_TEXT = 60;

/** For a terminal: a bar with its figures, on one line. */
export const renderBar = (state: ProgressState, columns: number, colors: Colors): string => {
  const width = Math.max(8, Math.min(BAR_WIDTH, columns - ROOM_FOR_TEXT));
  const filled = Math.round((state.fraction ?? 0) * width);
  const bar =
    state.fraction === null ? '' : `${colors.green('█'.repeat(filled))}${colors.dim('░'.repeat(width - filled))} `;
  const [count, ...rest] = figures(state);
  return `${state.label} ${bar}${[count, ...rest.map((text) => colors.dim(text))].join('  ')}`;
};

/** For a pipe: a plain line. */
export const renderLine = (state: ProgressState): string => `${state.label}: ${figures(state).join(', ')}`;

const figures = ({ done, fraction, rate, eta_ms }: ProgressState): string[] => [
  formatCount(done),
  ...(fraction === null ? [] : [`${Math.floor(fraction * 100)}%`]),
  `${formatCount(rate)}/s`,
  ...(eta_ms === null ? [] : [`ETA ${formatEta(eta_ms)}`]),
];

/** Whole seconds, because it is an estimate. */
const formatEta = (ms: number): string => (ms < 60_000 ? `${Math.ceil(ms / 1000)}s` : formatDuration(ms));

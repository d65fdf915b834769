import type { Invocation } from '@capstan/contracts';
import type { Colors } from '../output.js';
import { formatDuration } from './duration.js';
import { relativeTime } from './relative-time.js';
import { paintStatus, statusText } from './status.js';
import type { Column } from './table.js';

export const invocationColumns = (colors: Colors, now: Date): Column<Invocation>[] => [
  { title: 'INVOCATION', text: ({ invocation_id }) => invocation_id },
  {
    title: 'STATUS',
    text: ({ status }) => statusText(status),
    paint: (text, { status }) => paintStatus(status, text, colors),
  },
  { title: 'TOOL', text: ({ tool_id }) => tool_id, shrinks: true, tail: true },
  { title: 'RUNNER', text: ({ runner }) => runner, paint: (text) => colors.dim(text), drops: 1 },
  {
    title: 'TRY',
    text: ({ attempt, max_attempts }) => `${attempt}/${max_attempts}`,
    align: 'right',
    drops: 2,
    paint: (text, { attempt }) => (attempt > 1 ? colors.yellow(text) : colors.dim(text)),
  },
  {
    title: 'TOOK',
    text: ({ result, replay_of }) =>
      replay_of ? 'replayed' : result === null ? '-' : formatDuration(result.duration_ms),
    align: 'right',
  },
  { title: 'CREATED', text: ({ created_at }) => relativeTime(created_at, now) },
];

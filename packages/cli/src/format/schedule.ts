import type { Schedule, ScheduleDetail, ScheduleFire } from '@capstan/contracts';
import { visibleJson, visibleLine } from '@capstan/contracts/visible-text';
import type { Colors, Output } from '../output.js';
import { formatDuration } from './duration.js';
import { formatFields, indent } from './fields.js';
import { absoluteTime, relativeTime } from './relative-time.js';
import { formatTable } from './table.js';

/** `0 9 * * 1-5 Europe/Berlin`, `every 5m`. */
export const formatWhen = ({ cron, time_zone, every_ms }: Schedule): string =>
  every_ms === null ? `${cron} ${time_zone}` : `every ${formatDuration(every_ms).replace('.0s', 's')}`;

const OVERLAP = {
  skip: 'skipped while the last one goes on',
  queue: 'queued while the last one goes on',
  cancel: 'the last one is canceled if it goes on',
} as const satisfies Record<Schedule['overlap'], string>;

const PAINT = {
  started: 'green',
  queued: 'cyan',
  skipped: 'yellow',
  failed: 'red',
} as const satisfies Record<ScheduleFire['outcome'], keyof Colors>;

/** Formats a schedule: what it starts and when, the next starts, and the outcomes of the last ones. */
export const formatSchedule = (schedule: ScheduleDetail, out: Output, now: Date): string[] => {
  const { colors } = out;
  const { schedule_id, paused, next, last } = schedule;
  const fields = formatFields(
    [
      ['name', schedule.name && visibleLine(schedule.name)],
      ['starts', schedule.tool_id === null ? `the plan ${schedule.plan_hash ?? ''}` : visibleLine(schedule.tool_id)],
      ['when', visibleLine(formatWhen(schedule))],
      ['overlap', OVERLAP[schedule.overlap]],
      ['catches up', String(schedule.catch_up)],
      ['for', visibleLine(schedule.actor)],
      ['created', absoluteTime(schedule.created_at, now)],
      ['paused', paused ? visibleLine(schedule.paused_reason ?? 'until it is resumed') : null],
      ['last error', schedule.last_error && colors.red(visibleLine(schedule.last_error))],
    ],
    out,
  );
  const inputs = visibleJson(schedule.inputs, 2);
  return [
    `${paused ? colors.yellow('⏸ paused') : colors.green('● open')}  ${colors.bold(schedule_id)}`,
    ...fields,
    ...(Object.keys(schedule.inputs).length > 0 ? ['', colors.bold('inputs'), indent(inputs)] : []),
    '',
    colors.bold('next'),
    ...(next.length === 0 ? ['  none'] : next.map((time) => `  ${absoluteTime(time, now)}`)),
    '',
    colors.bold('last'),
    ...(last.length === 0 ? ['  none yet'] : formatFires(last, out, now).map(indent)),
  ];
};

const formatFires = (fires: readonly ScheduleFire[], { colors, tty, columns }: Output, now: Date): string[] =>
  formatTable(
    [
      { title: 'DUE', text: ({ fire_at }) => fire_at },
      { title: 'AGO', text: ({ fire_at }) => relativeTime(fire_at, now), drops: 1 },
      {
        title: 'OUTCOME',
        text: ({ outcome }) => outcome,
        paint: (text, { outcome }) => colors[PAINT[outcome]](text),
      },
      {
        title: 'RUN, OR WHY NOT',
        text: ({ run_id, detail }) => [run_id, detail].filter((part) => part !== null).join('  ') || '-',
        shrinks: true,
      },
    ],
    fires,
    { colors, columns: tty ? columns - 2 : null },
  );

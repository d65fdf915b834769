import type { ScheduleDetail } from '@capstan/contracts';
import { beforeEach, describe, expect, it } from 'vitest';
import { run } from '../testing/run-in-test.js';
import { withAnswers } from '../testing/with-answers.js';

const SCHEDULE: ScheduleDetail = {
  schedule_id: 'sch_abcdefghijklmnopqrst1',
  name: 'nightly',
  actor: 'ann',
  cron: '0 3 * * *',
  time_zone: 'Europe/Berlin',
  every_ms: null,
  tool_id: 'shell.run',
  plan_hash: null,
  overlap: 'skip',
  catch_up: 1,
  paused: false,
  paused_reason: null,
  next_at: '2026-01-02T02:00:00.000Z',
  last_at: '2026-01-01T02:00:00.000Z',
  last_run_id: null,
  last_error: null,
  created_at: '2025-12-30T12:00:00.000Z',
  inputs: { cmd: ['true'] },
  plan: null,
  next: ['2026-01-02T02:00:00.000Z'],
  last: [
    { fire_at: '2026-01-01T02:00:00.000Z', outcome: 'skipped', run_id: null, detail: 'run_7 has \u001b[2Jnot ended' },
    { fire_at: '2025-12-31T02:00:00.000Z', outcome: 'started', run_id: 'run_7', detail: null },
  ],
};
let answer = SCHEDULE;
const { seen, env } = withAnswers(() => answer);
beforeEach(() => {
  answer = SCHEDULE;
});

describe('schedule show', () => {
  it('shows the next starts, and the outcomes of the last ones with reasons', async () => {
    const { code, stdout } = await run(['schedule', 'show', 'sch_abcdefghijklmnopqrst1'], { env });
    expect(code).toBe(0);
    expect(seen[0]?.request).toBe('GET /v1/schedules/sch_abcdefghijklmnopqrst1');
    for (const part of [
      '● open  sch_abcdefghijklmnopqrst1',
      'when        0 3 * * * Europe/Berlin',
      'next\n  2026-01-02T02:00:00.000Z (in 13h)\n',
      '2026-01-01T02:00:00.000Z  10h ago  skipped  run_7 has',
      '2025-12-31T02:00:00.000Z  1d ago   started  run_7',
    ])
      expect(stdout).toContain(part);
    expect(stdout).not.toContain('\u001b');
  });

  it('shows why a schedule is paused', async () => {
    answer = { ...SCHEDULE, paused: true, paused_reason: 'its key was revoked', next: [], last: [] };
    const { stdout } = await run(['schedule', 'show', 'sch_abcdefghijklmnopqrst1'], { env });
    expect(stdout).toMatch(
      /^⏸ paused {2}sch_abcdefghijklmnopqrst1\n[\s\S]*its key was revoked[\s\S]*next\n {2}none\n[\s\S]*none yet/,
    );
  });

  it('prints JSON', async () => {
    expect(
      JSON.parse((await run(['schedule', 'show', 'sch_abcdefghijklmnopqrst1', '--json'], { env })).stdout),
    ).toEqual(SCHEDULE);
  });
});

import { spawnSync } from 'node:child_process';
import type { BareOrder } from './bare-messages.js';
import type { CapstanUnderTest } from './capstan-under-test.js';
import type { Cleanup } from './cleanup.js';
import type { Endpoint } from './endpoint.js';
import type { LoadGenerator } from './load-generator.js';
import { startOwnProcess } from './own-process.js';
import type { Progress } from './progress.js';
import { perSecond, Sample } from './sample.js';
import type { SubjectName } from './subject.js';

export interface ExecFindings {
  readonly in_flight: number;
  /** Why there are no rounds. */
  readonly skipped: string | null;
  readonly rounds: readonly { round: number; subject: SubjectName | 'bare'; per_second: number }[];
}

export interface MeasureExec {
  readonly rounds: number;
  readonly seconds: number;
  readonly load: LoadGenerator;
  readonly progress: Progress;
  readonly cleanup: Cleanup;
}

const IN_FLIGHT = 8;
/** About what two cores spawn in a second. */
const PER_SECOND = 150;
/** At so few calls a second it takes long until V8 has compiled what they run through: after 3,000 a call costs half as much. */
const WARM_UP = 1000;

/** `true` as a process in its sandbox: through the whole system, and by nothing but bubblewrap, in turns. */
export async function measureExec(capstans: readonly CapstanUnderTest[], options: MeasureExec): Promise<ExecFindings> {
  const { rounds, seconds, load, progress, cleanup } = options;
  if (spawnSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', 'true']).status !== 0)
    return { in_flight: IN_FLIGHT, skipped: 'bubblewrap does not work on this machine', rounds: [] };
  const bare = await startOwnProcess('./bare-bubblewrap.js', { cleanup });
  const orderOf = (round: number) => ({ in_flight: IN_FLIGHT, count: seconds * (round === 0 ? WARM_UP : PER_SECOND) });
  const workers = await Promise.all(capstans.map((capstan) => openExec(capstan)));
  const turns = [
    { subject: 'bare' as const, measure: (round: number) => bare.ask(orderOf(round) satisfies BareOrder, Sample) },
    ...capstans.map(({ name, endpoint }) => ({
      subject: name,
      measure: (round: number) => load.send({ ...endpoint, ...orderOf(round), calls: 'process' }),
    })),
  ];
  const found: { round: number; subject: SubjectName | 'bare'; per_second: number }[] = [];
  for (let round = 0; round <= rounds; round++) {
    for (const { subject, measure } of turns) {
      progress.doing(round === 0 ? `warming up: exec, ${subject}` : `round ${round} of ${rounds}: exec, ${subject}`);
      const per_second = perSecond(await measure(round));
      if (round === 0) continue;
      progress.done(`round ${round} of ${rounds}: exec, ${subject}: ${Math.round(per_second)}/s`);
      found.push({ round, subject, per_second });
    }
  }
  for (const worker of workers) await worker.stop();
  return { in_flight: IN_FLIGHT, skipped: null, rounds: found };
}

async function openExec(capstan: CapstanUnderTest) {
  await allowProcesses(capstan.endpoint);
  return capstan.startExecWorker(IN_FLIGHT);
}

async function allowProcesses({ port, api_key }: Endpoint): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/policies/default`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      boundary: 'deny_by_default',
      rules: [{ id: 'bench', effect: 'allow', match: { tool: ['cap:*', 'shell.run'] } }],
      risk: { HIGH: { effect: 'allow' } },
    }),
  });
  if (!response.ok) throw new Error(`the policy was refused: ${await response.text()}`);
}

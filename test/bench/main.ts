import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { endAll } from '../fixtures/at-end.js';
import type { Bench } from './bench.js';
import { type Findings, noFindings } from './findings.js';
import { type Options, type PartName, parseOptions, USAGE } from './options.js';
import { measureApp } from './parts/measure-app.js';
import { measureCalls } from './parts/measure-calls.js';
import { measureDecisions } from './parts/measure-decisions.js';
import { measureExec } from './parts/measure-exec.js';
import { measureIdle } from './parts/measure-idle.js';
import { measureOverload } from './parts/measure-overload.js';
import { measurePlans } from './parts/measure-plans.js';
import { measureSealing } from './parts/measure-sealing.js';
import { measureSnapshot } from './parts/measure-snapshot.js';
import { measureSoak } from './parts/measure-soak.js';
import { measureWaiting } from './parts/measure-waiting.js';
import { openProgress, type Progress } from './progress.js';
import { compare } from './report/comparison.js';
import { linesOf } from './report/lines.js';
import { renderReport } from './report/report.js';
import { watchMemory } from './rss.js';
import { startSubjects } from './start-subjects.js';
import { SUBJECTS } from './subject.js';

const MEASURE: Record<PartName, (bench: Bench) => Promise<void>> = {
  idle: measureIdle,
  calls: measureCalls,
  app: measureApp,
  sealing: measureSealing,
  plans: measurePlans,
  exec: measureExec,
  snapshot: measureSnapshot,
  overload: measureOverload,
  soak: measureSoak,
  waiting: measureWaiting,
  decisions: measureDecisions,
};

/** Capstan, on either of its queues, beside others: the same machine, the same Redis and Postgres, the same run, in turns. */
async function measureAll(options: Options, findings: Findings, progress: Progress, end: CutShort): Promise<void> {
  progress.doing('starting Redis, Postgres and what is measured');
  const subjects = await startSubjects(options.only, end.because);
  const memory = watchMemory(() =>
    subjects.capstans.flatMap((capstan) =>
      capstan.services().map(({ name, pid }) => ({ name: `${name} on ${capstan.name}`, pid })),
    ),
  );
  for (const part of options.parts) {
    const started = performance.now();
    await MEASURE[part]({ ...subjects, options, findings, progress });
    findings.part_seconds[part] = Math.round((performance.now() - started) / 1000);
    findings.memory = memory();
  }
}

interface CutShort {
  /** Rejects if the bench cannot or may not go on; never resolves. */
  readonly happened: Promise<never>;
  readonly because: (error: Error) => void;
}

/** Ctrl-C, or the death of a process under test. */
function openCutShort(): CutShort {
  let because: (error: Error) => void = () => {};
  const happened = new Promise<never>((_, reject) => {
    because = reject;
  });
  happened.catch(() => {}); // looked at once the bench is under way; until then it is not an unhandled rejection
  // Not `once`: a library that starts processes ends this one on a signal without listeners.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => because(new Error(`ended by ${signal}`)));
  return { happened, because };
}

/**
 * The table is printed and the figures are written in any case. Exits with 0 whether or not the targets are met, because a busy machine misses them
 * too, and with 1 if something could not be measured.
 */
async function benchAndReport(options: Options): Promise<void> {
  const progress = openProgress(process.stderr);
  const findings = noFindings();
  const end = openCutShort();
  try {
    await Promise.race([measureAll(options, findings, progress, end), end.happened]);
  } catch (error) {
    findings.failures.push({
      part: 'the bench was cut short',
      message: error instanceof Error ? error.message : String(error),
    });
  }
  progress.end();
  await writeFile(options.out, `${JSON.stringify(figuresOf(findings, options), null, 2)}\n`);
  process.stdout.write(`${renderReport(findings, options)}\n\nAll figures: ${options.out}\n`);
  process.exitCode = findings.failures.length === 0 ? 0 : 1;
  await endAll();
  process.exit(); // cut short, the bench may still be asking something of what is gone
}

/** Every figure, single measurements included, with what is needed to tell two runs apart. */
function figuresOf(findings: Findings, options: Options): object {
  const comparisons = linesOf(options).map((line) => ({
    ...line,
    ...Object.fromEntries(SUBJECTS.map((subject) => [subject, compare(findings.measurements, line, subject)])),
  }));
  const machine = { node: process.version, cores: availableParallelism(), platform: process.platform };
  return { at: new Date().toISOString(), machine, options, comparisons, ...findings };
}

function optionsOrUsage(): Options {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}\n`);
    process.exit(2);
  }
}

await benchAndReport(optionsOrUsage());

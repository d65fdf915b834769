import { type Cleanup, openCleanup } from './cleanup.js';
import { type CutShort, openCutShort } from './cut-short.js';
import { measureBehindWaiting } from './measure-behind-waiting.js';
import { measureDecisions, renderDecisions } from './measure-decisions.js';
import { measureExec } from './measure-exec.js';
import { measurePlans } from './measure-plans.js';
import { measureRounds } from './measure-rounds.js';
import { type Options, parseOptions, USAGE } from './options.js';
import { openProgress, type Progress } from './progress.js';
import { renderExec } from './render-exec.js';
import { renderPlans } from './render-plans.js';
import { type Findings, renderReport } from './report.js';
import { watchMemory } from './rss.js';
import { type Quarter, soak } from './soak.js';
import { startSubjects } from './start-subjects.js';
import { writeFindings } from './write-findings.js';

interface Surroundings {
  readonly progress: Progress;
  readonly cleanup: Cleanup;
  readonly cut_short: CutShort;
}

/** Capstan, on either of its queues, beside raw BullMQ: the same machine, the same Redis, the same run, in turns. */
async function bench(options: Options, { progress, cleanup, cut_short }: Surroundings): Promise<Findings> {
  const { rounds, seconds, waiting } = options;
  progress.doing('starting Redis, Postgres and what is measured');
  const { subjects, capstans, load } = await startSubjects(options, cleanup, cut_short.because);
  const memory = watchMemory(() => capstans.flatMap((capstan) => capstan.processes()), cleanup);
  const everything = !options.exec && !options.plans;
  const measurements = rounds === 0 || !everything ? [] : await measureRounds(subjects, { rounds, seconds, progress });
  const quarters: Quarter[] = [];
  for (const capstan of options.soak === 0 ? [] : capstans)
    quarters.push(...(await soak(capstan, options.soak, progress)));
  const plans = rounds === 0 || options.exec ? [] : await measurePlans(capstans, { rounds, progress });
  const exec =
    rounds === 0 || options.plans ? null : await measureExec(capstans, { rounds, seconds, load, progress, cleanup });
  const without_waiting = measurements;
  const behind = await measureBehindWaiting(everything ? capstans : [], {
    without_waiting,
    waiting,
    rounds,
    load,
    progress,
  });
  const decisions = measureDecisions(seconds);
  return {
    measurements: [...measurements, ...behind],
    memory: memory(),
    soak: quarters,
    waiting,
    exec,
    plans,
    decisions,
  };
}

/** Ends with 0 whether or not the targets are met, for a busy machine misses them too; with 1 when anything went wrong. */
async function benchAndReport(options: Options): Promise<void> {
  const surroundings = { progress: openProgress(process.stderr), cleanup: openCleanup(), cut_short: openCutShort() };
  const { progress, cleanup, cut_short } = surroundings;
  try {
    const findings = await Promise.race([bench(options, surroundings), cut_short.happened]);
    await writeFindings(findings, options);
    progress.clear();
    process.stdout.write(
      `${renderReport(findings, options.only)}\n\n${renderPlans(findings.plans)}\n${renderExec(findings.exec)}\n${renderDecisions(findings.decisions)}\nAll figures: ${options.out}\n`,
    );
  } catch (error) {
    progress.clear();
    process.stderr.write(`${messageOf(error)}\n`);
    process.exitCode = 1;
  } finally {
    await cleanup.close();
    process.exit(); // cut short, the bench may still be asking something of what is gone
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function optionsOrUsage(): Options {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n\n${USAGE}\n`);
    process.exit(2);
  }
}

await benchAndReport(optionsOrUsage());

import type { Findings, Place } from './findings.js';
import type { Options } from './options.js';
import type { Progress } from './progress.js';
import type { Subjects } from './start-subjects.js';

/** What every part of the bench works with. */
export interface Bench extends Subjects {
  readonly options: Options;
  readonly progress: Progress;
  readonly findings: Findings;
}

/** Measures one thing. If that fails, it says so in its place of the report, and everything else is still measured. */
export async function attempt({ findings, progress }: Bench, place: Place, act: () => Promise<void>): Promise<void> {
  const { part, subject } = place;
  const what = subject === undefined ? part : `${part}, ${subject}`;
  progress.doing(what);
  try {
    await act();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    findings.failures.push({ ...place, message });
    progress.done(`${what}: FAILED: ${message}`);
  }
}

import type { Findings, Place } from './findings.js';
import type { Options } from './options.js';
import type { Progress } from './progress.js';
import type { Subjects } from './start-subjects.js';

/** The context of every part of the bench. */
export interface Bench extends Subjects {
  readonly options: Options;
  readonly progress: Progress;
  readonly findings: Findings;
}

/** Measures one thing. If that fails, the report contains the error in its place, and the other measurements continue. */
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

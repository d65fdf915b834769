import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { compare } from './comparison.js';
import type { Options } from './options.js';
import { type Findings, linesOf } from './report.js';
import { SUBJECTS } from './subject.js';

/** Every figure as JSON, single measurements included, with what is needed to tell two runs apart. */
export async function writeFindings(findings: Findings, options: Options): Promise<void> {
  const comparisons = linesOf(findings.waiting).map((line) => ({
    ...line,
    ...Object.fromEntries(SUBJECTS.map((subject) => [subject, compare(findings.measurements, line, subject)])),
  }));
  const machine = { node: process.version, cores: availableParallelism(), platform: process.platform };
  const written = { at: new Date().toISOString(), machine, options, comparisons, ...findings };
  await writeFile(options.out, `${JSON.stringify(written, null, 2)}\n`);
}

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { atEnd } from '../fixtures/at-end.js';
import type { Metered } from './meter.js';
import { median } from './report/statistics.js';

/** The resident memory of a process in MB, from the kernel where there is a /proc, from ps elsewhere; undefined once it is gone. */
export function residentMegabytes(pid: number): number | undefined {
  const kilobytes = fromProc(pid) ?? fromPs(pid);
  return kilobytes === undefined ? undefined : kilobytes / 1024;
}

function fromProc(pid: number): number | undefined {
  try {
    return numberIn(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')));
  } catch {
    return undefined;
  }
}

function fromPs(pid: number): number | undefined {
  try {
    return numberIn(/(\d+)/.exec(execFileSync('ps', ['-o', 'rss=', '-p', `${pid}`], { encoding: 'latin1' })));
  } catch {
    return undefined;
  }
}

function numberIn(match: RegExpExecArray | null): number | undefined {
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

export interface Memory {
  readonly process: string;
  readonly median_mb: number;
  readonly peak_mb: number;
}

/** Looks at the memory of processes twice a second; which ones is asked each time, for a worker that is restarted has a new pid. */
export function watchMemory(processes: () => readonly Metered[]): () => Memory[] {
  const seen = new Map<string, number[]>();
  const timer = setInterval(() => {
    for (const { name, pid } of processes()) {
      const megabytes = residentMegabytes(pid);
      if (megabytes !== undefined) seen.set(name, [...(seen.get(name) ?? []), megabytes]);
    }
  }, 500);
  atEnd(() => clearInterval(timer));
  return () =>
    [...seen].map(([process, megabytes]) => ({
      process,
      median_mb: median(megabytes),
      peak_mb: Math.max(...megabytes),
    }));
}

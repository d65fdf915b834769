import { readdirSync, readFileSync } from 'node:fs';
import type { BenchPostgres } from './bench-postgres.js';

export interface Metered {
  readonly name: string;
  readonly pid: number;
  /** Also what it has started: Postgres works in a process for each connection. */
  readonly tree?: boolean;
}

/** The cost of a number of calls, per call. */
export interface Costs {
  readonly wal_bytes: number;
  readonly cpu_us: Readonly<Record<string, number>>;
}

/** The kernel counts CPU time in hundredths of a second, on every platform that has /proc. */
const TICK_US = 10_000;

interface Times {
  readonly parent: number;
  readonly own: number;
  /** Of child processes that have exited. */
  readonly reaped: number;
}

function timesOf(pid: number | string): Times | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name, in parentheses, may hold anything; what follows it does not.
    const [, parent, , , , , , , , , , user, system, children_user, children_system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return {
      parent: parent ?? 0,
      own: ((user ?? 0) + (system ?? 0)) * TICK_US,
      reaped: ((children_user ?? 0) + (children_system ?? 0)) * TICK_US,
    };
  } catch {
    return undefined; // it is gone, or there is no /proc
  }
}

/** CPU time so far, in µs; undefined without a /proc. */
export function cpuOf({ pid, tree }: Metered): number | undefined {
  const times = timesOf(pid);
  if (times === undefined || !tree) return times?.own;
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(timesOf)
    .filter((child) => child?.parent === pid);
  return children.reduce((sum, child) => sum + (child?.own ?? 0), times.own + times.reaped);
}

/** Starts counting; answers how to stop. */
export async function meterCosts(
  processes: readonly Metered[],
  postgres: BenchPostgres,
): Promise<(calls: number) => Promise<Costs>> {
  const cpu = processes.map(cpuOf);
  const wal = await postgres.walPosition();
  return async (calls) => {
    const wal_bytes = Number((await postgres.walPosition()) - wal) / calls;
    const cpu_us = processes.flatMap((metered, index): [string, number][] => {
      const [before, after] = [cpu[index], cpuOf(metered)];
      return before === undefined || after === undefined ? [] : [[metered.name, (after - before) / calls]];
    });
    return { wal_bytes, cpu_us: Object.fromEntries(cpu_us) };
  };
}

import { type ReportSummary, type RunDetail, RunFacts } from '@capstan/contracts';
import type { ReadEntry } from '@capstan/store/record';

const MAX_NAMES = 10_000;

/** Adds up what the invocations of a run did. */
export function createSummary(run: RunDetail) {
  const { total_steps, completed_steps, denied_steps, failed_steps, canceled_steps, skipped_steps, held_steps } = run;
  const names = {
    files_read: new Set<string>(),
    files_written: new Set<string>(),
    domains: new Set<string>(),
    workers: new Set<string>(),
  };
  const counts = { attempts: 0, holds: 0, processes: 0, cost_units: 0 };
  const tools = new Map<string, number>();
  const keep = (set: Set<string>, values: readonly string[] = []) => {
    for (const value of values) if (set.size < MAX_NAMES) set.add(value);
  };
  const sorted = (set: Set<string>) => [...set].sort();
  return {
    add: ({ tables }: ReadEntry): void => {
      const attempts = tables.attempts ?? [];
      counts.attempts += attempts.length;
      counts.holds += (tables.holds ?? []).length;
      keep(
        names.workers,
        attempts.map(({ worker_id }) => String(worker_id)),
      );
      for (const { tool_id } of tables.invocations ?? [])
        tools.set(String(tool_id), (tools.get(String(tool_id)) ?? 0) + 1);
      // A replay executes nothing: the facts of its results are those of the replayed run.
      if (run.mode === 'replay') return;
      const facts = RunFacts.safeParse(tables.results?.[0]?.facts).data;
      keep(names.files_read, facts?.observed?.files_read);
      keep(names.files_written, facts?.observed?.files_written);
      keep(names.domains, facts?.observed?.domains);
      counts.processes += facts?.observed?.processes ?? 0;
      counts.cost_units += facts?.cost_units ?? 0;
    },
    result: (): ReportSummary => {
      const resources = {
        files_read: sorted(names.files_read),
        files_written: sorted(names.files_written),
        domains_contacted: sorted(names.domains),
        processes: counts.processes,
      };
      return {
        total_duration_ms: Math.max(
          0,
          Date.parse(run.finished_at ?? new Date().toISOString()) - Date.parse(run.created_at),
        ),
        ...{ total_steps, completed_steps, denied_steps, failed_steps, canceled_steps, skipped_steps, held_steps },
        ...counts,
        ...resources,
        resources,
        tools: Object.fromEntries([...tools].sort()),
        workers: sorted(names.workers),
      };
    },
  };
}

import type { Verdict } from './run-seed.js';

const SHOWN = 5;

/** One line if there is no violation. Otherwise each violation with the history of its call, and how to run the seed again. */
export function describeVerdict({ seed, queue, nemesis, history, violations, crashes, recovery_ms }: Verdict): string {
  const statuses = new Map<string, number>();
  for (const { status } of history.ends) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const counts = [...statuses].map(([status, count]) => `${count} ${status}`).join(', ');
  const seconds = (recovery_ms / 1000).toFixed(1);
  const head = `seed ${seed} ${queue} ${nemesis}: ${history.ends.length} calls (${counts}), quiet after ${seconds} s, ${violations.length} violations`;
  if (violations.length === 0) return head;
  const kinds = new Map<string, number>();
  for (const { kind } of violations) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  const shown = violations.slice(0, SHOWN).flatMap(({ kind, key, text }) => [
    `  ${kind} ${key}: ${text}`,
    ...history.operations
      .filter((operated) => operated.key === key)
      .toSorted((one, other) => one.at - other.at)
      .map(({ op, at, outcome, status, detail }) =>
        `    ${new Date(at).toISOString().slice(11, 23)} ${op} ${outcome} ${status ?? ''} ${detail ?? ''}`.trimEnd(),
      ),
  ]);
  return [
    head,
    `  ${[...kinds].map(([kind, count]) => `${count} ${kind}`).join(', ')}`,
    ...shown,
    ...(violations.length > SHOWN ? [`  … and ${violations.length - SHOWN} more`] : []),
    ...crashes.map((crash) => `  ${crash}`),
    `  again: npm run faults -- --seed ${seed} --queue ${queue} --nemesis ${nemesis}`,
  ].join('\n');
}

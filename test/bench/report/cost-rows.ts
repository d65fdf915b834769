import type { Findings, MeasuredShape, Measurement } from '../findings.js';
import { CAPSTANS, type SubjectName } from '../subject.js';
import { median } from './statistics.js';

/** A line of the report: for each subject a figure and, for Capstan, perhaps a ratio and a verdict. */
export interface Row {
  readonly label: string;
  readonly cells: Partial<Record<SubjectName, string[]>>;
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
/** In the order of the report. */
const PROCESSES = ['producer', 'gateway', 'worker', 'coordinator', 'Postgres', 'Redis', 'load', 'in all'];
const MAX_WAL_BYTES = 2_000;
const MAX_REDIS_MB = 200;
const MAX_IDLE_STATEMENTS = 5;
const MAX_IDLE_PERCENT = 1;

const verdict = (value: number, most: number, unit = ''): string =>
  `≤ ${whole.format(most)}${unit} ${value <= most ? '✓' : '✗'}`;

/** The cost of a call: bytes of WAL, and µs of CPU time by process. */
export function costRows(measurements: readonly Measurement[]): Row[] {
  return [
    ...walRow('WAL a call, 50 in flight', 'in_flight_50', measurements),
    ...walRow('WAL a call, bulk', 'bulk', measurements),
    ...cpuRows('50 in flight', 'in_flight_50', measurements),
    ...cpuRows('bulk', 'bulk', measurements),
    ...cpuRows('50 in flight, sealing', 'with_sealing', measurements).filter(({ label }) =>
      label.includes('coordinator'),
    ),
  ];
}

function costsOf(measurements: readonly Measurement[], shape: MeasuredShape): Map<SubjectName, Measurement[]> {
  const found = new Map<SubjectName, Measurement[]>();
  for (const measurement of measurements)
    if (measurement.shape === shape && measurement.costs !== undefined)
      found.set(measurement.subject, [...(found.get(measurement.subject) ?? []), measurement]);
  return found;
}

function walRow(label: string, shape: MeasuredShape, measurements: readonly Measurement[]): Row[] {
  const cells: Row['cells'] = {};
  for (const [subject, found] of costsOf(measurements, shape)) {
    if (subject === 'bullmq') continue; // writes nothing there
    const bytes = median(found.map(({ costs }) => costs?.wal_bytes ?? 0));
    cells[subject] = [`${whole.format(bytes)} bytes`, '', verdict(bytes, MAX_WAL_BYTES)];
  }
  return [{ label, cells }];
}

function cpuRows(load: string, shape: MeasuredShape, measurements: readonly Measurement[]): Row[] {
  const rows = new Map<string, Row['cells']>();
  for (const [subject, found] of costsOf(measurements, shape)) {
    const names = new Set(found.flatMap(({ costs }) => Object.keys(costs?.cpu_us ?? {})));
    const medians = [...names].map((name): [string, number] => [
      name,
      median(found.map(({ costs }) => costs?.cpu_us[name] ?? 0)),
    ]);
    const sum = medians.reduce((total, [, us]) => total + us, 0);
    for (const [name, us] of [...medians, ['in all', sum] as const])
      rows.set(name, { ...rows.get(name), [subject]: [`${whole.format(us)} µs`] });
  }
  return PROCESSES.map((name) => ({ label: `CPU a call, ${load}: ${name}`, cells: rows.get(name) ?? {} }));
}

export function redisRows(found: Findings['redis_memory']): Row[] {
  return found.map(({ subject, waiting, megabytes }) => ({
    label: `Redis, ${whole.format(waiting)} waiting`,
    cells: { [subject]: [`${whole.format(megabytes)} MB`, '', verdict(megabytes, MAX_REDIS_MB)] },
  }));
}

export function idleRows(found: Findings['idle']): Row[] {
  const statements: Row['cells'] = {};
  const cpu: Row['cells'] = {};
  for (const { subject, statements_per_second, cpu_percent } of found) {
    statements[subject] = [
      `${statements_per_second.toFixed(1)}/s`,
      '',
      verdict(statements_per_second, MAX_IDLE_STATEMENTS),
    ];
    const percents = Object.values(cpu_percent);
    const in_all = percents.reduce((sum, percent) => sum + percent, 0);
    cpu[subject] = [
      percents
        .map((percent) => percent.toFixed(1))
        .join(' · ')
        .concat(' %'),
      '',
      verdict(in_all, MAX_IDLE_PERCENT),
    ];
  }
  return [
    { label: 'idle: statements', cells: statements },
    { label: 'idle: CPU (gateway · worker · coordinator)', cells: cpu },
  ];
}

export function overloadRows(found: Findings['overload']): Row[] {
  return found.length === 0
    ? []
    : [
        overloadRow(found, 'accepted', ({ accepted }) => whole.format(accepted)),
        overloadRow(found, 'refused', ({ refused }) => whole.format(refused)),
        overloadRow(found, 'refused without Retry-After', (one) => whole.format(one.refused_without_retry_after)),
        overloadRow(found, 'broken', ({ broken }) => whole.format(broken)),
        overloadRow(found, 'p99 of those accepted', ({ p99_ms }) => `${whole.format(p99_ms)} ms`),
      ];
}

function overloadRow(
  found: Findings['overload'],
  what: string,
  text: (overload: Findings['overload'][number]['overload']) => string,
): Row {
  const clients = whole.format(found[0]?.clients ?? 0);
  return {
    label: `${clients} clients: ${what}`,
    cells: Object.fromEntries(found.map(({ subject, overload }) => [subject, [text(overload)]])),
  };
}

export function memoryRows(memory: Findings['memory']): Row[] {
  return ['gateway', 'worker', 'coordinator'].map((service) => {
    const cells: Row['cells'] = {};
    for (const subject of CAPSTANS) {
      const found = memory.find(({ process }) => process === `${service} on ${subject}`);
      if (found) cells[subject] = [`${whole.format(found.median_mb)}, peak ${whole.format(found.peak_mb)} MB`];
    }
    return { label: `memory of the ${service}`, cells };
  });
}

export function soakRows(soak: Findings['soak']): Row[] {
  return [...new Set(soak.map(({ percent }) => percent))].map((percent) => ({
    label: `soak, ${percent} % (gateway · worker · coordinator)`,
    cells: Object.fromEntries(
      soak
        .filter((quarter) => quarter.percent === percent)
        .map(({ subject, resident_mb }) => [
          subject,
          [`${Object.values(resident_mb).map(whole.format).join(' · ')} MB`],
        ]),
    ),
  }));
}

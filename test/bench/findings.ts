import type { Overload } from './load/load-generator.js';
import type { Costs } from './meter.js';
import type { PartName } from './options.js';
import type { Memory } from './rss.js';
import type { CapstanName, Sample, Shape, SubjectName } from './subject.js';

/** The shapes of every round, and those of single parts. */
export type MeasuredShape =
  | Shape
  | 'behind_waiting'
  | 'before_snapshot'
  | 'pinned_snapshot'
  | 'with_sealing'
  | 'without_sealing';

export interface Measurement {
  readonly round: number;
  readonly subject: SubjectName;
  readonly shape: MeasuredShape;
  readonly sample: Sample;
  readonly costs?: Costs;
}

/** Set if the measurement failed. */
export interface Place {
  readonly part: string;
  readonly subject?: SubjectName;
  readonly shape?: MeasuredShape;
}

export interface IdleCost {
  readonly subject: CapstanName;
  readonly statements_per_second: number;
  /** Per cent of a core, by process. */
  readonly cpu_percent: Readonly<Record<string, number>>;
}

export interface PlanRound {
  readonly round: number;
  readonly subject: CapstanName;
  readonly title: string;
  readonly count: number;
  readonly kind: 'bulk' | 'plan';
  readonly elapsed_ms: number;
  /** The accepted time, as a multiple of the bulk's. */
  readonly target: number;
}

export interface ExecRound {
  readonly round: number;
  readonly subject: CapstanName | 'bare';
  readonly per_second: number;
}

export interface Quarter {
  readonly subject: CapstanName;
  readonly percent: number;
  readonly per_second: number;
  readonly resident_mb: Readonly<Record<string, number>>;
}

/** The growth of tables that only contain running calls, while a snapshot keeps Postgres from cleaning up. */
export interface Bloat {
  readonly subject: CapstanName;
  readonly calls: number;
  /** Bytes a call, of a table and its indexes. */
  readonly bytes_per_call: Readonly<Record<string, number>>;
  /** The total size at the end of the snapshot, and after it was released, vacuumed and loaded again. */
  readonly megabytes: { readonly held: number; readonly after: number };
}

/** All that was found so far; the report is made of it whenever the bench ends, and however it does. */
export interface Findings {
  readonly measurements: Measurement[];
  readonly idle: IdleCost[];
  readonly overload: { subject: CapstanName; clients: number; overload: Overload }[];
  /** Redis with so many waiting. */
  readonly redis_memory: { subject: CapstanName; waiting: number; megabytes: number }[];
  readonly plans: PlanRound[];
  readonly exec: ExecRound[];
  readonly soak: Quarter[];
  readonly bloat: Bloat[];
  readonly app: { round: number; subject: CapstanName; own: number; builtin: number }[];
  readonly decisions: { rules: number; per_second: number }[];
  /** The parts that were skipped, and why. */
  readonly notes: string[];
  readonly failures: (Place & { message: string })[];
  /** The duration of each part. */
  readonly part_seconds: Partial<Record<PartName, number>>;
  memory: readonly Memory[];
}

export const noFindings = (): Findings => ({
  ...{
    measurements: [],
    idle: [],
    overload: [],
    redis_memory: [],
    plans: [],
    exec: [],
    soak: [],
    bloat: [],
    app: [],
    decisions: [],
  },
  ...{ notes: [], failures: [], part_seconds: {}, memory: [] },
});

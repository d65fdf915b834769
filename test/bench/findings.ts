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

/** Where something was to be measured. */
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
  /** How many times as long as the bulk it may take. */
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
  readonly app: { round: number; subject: CapstanName; own: number; builtin: number }[];
  readonly decisions: { rules: number; per_second: number }[];
  /** What was left out and why. */
  readonly notes: string[];
  readonly failures: (Place & { message: string })[];
  /** How long each part took. */
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
    app: [],
    decisions: [],
  },
  ...{ notes: [], failures: [], part_seconds: {}, memory: [] },
});

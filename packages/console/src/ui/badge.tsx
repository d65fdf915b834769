import type { HoldStatus, InvocationStatus, Risk, RunStatus, StepStatus, WorkerInfo } from '@capstan/contracts';
import type { ReactNode } from 'react';

export type Tone = 'green' | 'red' | 'amber' | 'blue' | 'purple' | 'grey';
export type AnyStatus = InvocationStatus | RunStatus | HoldStatus | StepStatus | WorkerInfo['status'];

const TONES: Record<AnyStatus, Tone> = {
  held: 'amber',
  deferred: 'grey',
  queued: 'grey',
  running: 'blue',
  succeeded: 'green',
  failed: 'red',
  timed_out: 'red',
  denied: 'red',
  rejected: 'red',
  expired: 'grey',
  canceled: 'grey',
  ambiguous: 'purple',
  pending: 'grey',
  paused: 'amber',
  completed: 'green',
  released: 'green',
  withdrawn: 'grey',
  skipped: 'grey',
  alive: 'green',
  draining: 'amber',
  stopped: 'grey',
  lost: 'red',
};

export const toneOf = (status: AnyStatus): Tone => TONES[status] ?? 'grey';
export const inWords = (name: string): string =>
  name.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase());

export const Status = ({ of, plain = false }: { of: AnyStatus; plain?: boolean }) => (
  <span
    className={`badge tone-${toneOf(of)} ${of === 'running' ? 'pulse' : ''} ${plain ? 'plain' : ''}`}
    data-status={of}
  >
    <span className="dot" />
    {inWords(of)}
  </span>
);

const RISK_TONES: Record<Risk, Tone> = { LOW: 'grey', MED: 'blue', HIGH: 'amber', CRITICAL: 'red' };
const RISK_WORDS: Record<Risk, string> = {
  LOW: 'Low risk',
  MED: 'Medium risk',
  HIGH: 'High risk',
  CRITICAL: 'Critical risk',
};

export const RiskBadge = ({ risk }: { risk: Risk | null }) =>
  risk === null ? null : <span className={`badge square tone-${RISK_TONES[risk]}`}>{RISK_WORDS[risk]}</span>;

export const Tag = ({ tone = 'grey', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`badge square tone-${tone}`}>{children}</span>
);

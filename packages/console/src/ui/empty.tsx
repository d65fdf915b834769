import { CircleAlert, Lock } from 'lucide-react';
import type { ReactNode } from 'react';
import { ProblemError, UnreachableError } from '../api/request.js';
import { Button } from './button.js';
import { SafeText } from './safe-text.js';

type EmptyProps = { icon?: ReactNode; title: string; tight?: boolean; children?: ReactNode };

/** An empty state: what would be here, and how to get it. */
export const EmptyState = ({ icon, title, tight = false, children }: EmptyProps) => (
  <div className={`empty ${tight ? 'tight' : ''}`}>
    {icon}
    <strong>{title}</strong>
    {children}
  </div>
);

/** For a page that the role of the user does not show. */
export const Forbidden = ({ why }: { why: string | null }) => (
  <EmptyState icon={<Lock />} title="You have no access to this">
    <p>{why}</p>
  </EmptyState>
);

export function ErrorState({ error, retry }: { error: unknown; retry?: () => void }) {
  const title =
    error instanceof ProblemError && error.status === 404
      ? 'Not found'
      : error instanceof ProblemError && error.status === 403
        ? 'You have no access to this'
        : error instanceof UnreachableError
          ? 'The gateway is not responding'
          : 'This could not be loaded';
  return (
    <EmptyState icon={<CircleAlert />} title={title}>
      <ProblemText error={error} />
      {retry ? (
        <Button onClick={retry} size="small">
          Try again
        </Button>
      ) : null}
    </EmptyState>
  );
}

/** An error with its suggestion, as reported by the gateway. */
export function ProblemText({ error }: { error: unknown }) {
  const detail = error instanceof Error ? error.message : String(error);
  const suggestion = error instanceof ProblemError ? error.problem.suggestion : '';
  return (
    <>
      <p>
        <SafeText text={detail} />
      </p>
      {suggestion ? (
        <p className="muted">
          <SafeText text={suggestion} />
        </p>
      ) : null}
    </>
  );
}

export const ProblemNote = ({ error }: { error: unknown }) =>
  error === null || error === undefined ? null : (
    <div className="problem" role="alert">
      <ProblemText error={error} />
    </div>
  );

/** Gray bars while data is loaded for the first time. */
export const Loading = ({ lines = 5 }: { lines?: number }) => (
  <div className="stack" aria-busy="true">
    <span className="sr-only" role="status">
      Loading
    </span>
    {Array.from({ length: lines }, (_, line) => `line ${line}`).map((key, line) => (
      <div key={key} className="skeleton" style={{ width: `${92 - ((line * 17) % 45)}%` }} />
    ))}
  </div>
);

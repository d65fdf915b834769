import type { Run } from '@capstan/contracts';
import './step-bar.css';

/** The progress of a run, by the status of its steps. */
export function StepBar({ run }: { run: Run }) {
  const { total_steps, completed_steps, failed_steps, denied_steps, canceled_steps, skipped_steps } = run;
  const parts = [
    ['green', completed_steps, 'completed'],
    ['red', failed_steps + denied_steps, 'failed or denied'],
    ['grey', canceled_steps + skipped_steps, 'canceled or skipped'],
  ] as const;
  const words = parts.filter(([, count]) => count > 0).map(([, count, name]) => `${count} ${name}`);
  const ended = completed_steps + failed_steps + denied_steps + canceled_steps + skipped_steps;
  return (
    <span className="step-bar" title={words.join(', ')}>
      <span className="step-bar-track" aria-hidden="true">
        {parts.map(([tone, count, name]) =>
          count > 0 ? (
            <span
              key={name}
              className={`tone-${tone}`}
              style={{ width: `${(100 * count) / Math.max(1, total_steps)}%` }}
            />
          ) : null,
        )}
      </span>
      <span className="num muted">
        {ended.toLocaleString()}/{total_steps.toLocaleString()}
        <span className="sr-only"> steps: {words.join(', ')}</span>
      </span>
    </span>
  );
}

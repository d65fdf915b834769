import type { ReactNode } from 'react';
import { useId } from 'react';

type PanelProps = { title: string; sub?: ReactNode; actions?: ReactNode; flush?: boolean; children: ReactNode };

export function Panel({ title, sub, actions, flush = false, children }: PanelProps) {
  const id = useId();
  return (
    <section className="panel" aria-labelledby={id}>
      <div className="panel-head">
        <h2 id={id}>{title}</h2>
        {sub ? <span className="sub">{sub}</span> : null}
        {actions ? <span className="row push">{actions}</span> : null}
      </div>
      <div className={`panel-body ${flush ? 'flush' : ''}`}>{children}</div>
    </section>
  );
}

/** Names and values, side by side. Entries without a value are left out. */
export const Facts = ({ of }: { of: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <dl className="facts">
    {of
      .filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '')
      .map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name} value`}>{value}</dd>])}
  </dl>
);

import type { Hold, HoldStatus } from '@capstan/contracts';
import { useQuery } from '@tanstack/react-query';
import { similarQuery } from '../../api/holds.js';
import { inWords, Status, Tag } from '../../ui/badge.js';
import { EmptyState } from '../../ui/empty.js';
import { Id } from '../../ui/id.js';
import { Panel } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { Time } from '../../ui/time.js';

/** Earlier decisions about the same tool, and how those calls ended. */
export function Similar({ hold }: { hold: Hold }) {
  const { data } = useQuery(similarQuery(hold.hold_id));
  if (!data) return null;
  const counts = Object.entries(data.counts) as [HoldStatus, number][];
  return (
    <Panel
      title="Decided before"
      sub={counts.map(([status, count]) => `${count} ${inWords(status).toLowerCase()}`).join(', ')}
      flush
    >
      {data.items.length === 0 ? (
        <EmptyState tight title="This is the first call of the tool that is held" />
      ) : (
        <div className="mini-table">
          {data.items.map((item) => (
            <div key={item.hold_id} className="mini-row similar">
              <Status of={item.status} plain />
              <span className="grow">
                <span className="row wrap">
                  <SafeText text={item.decided_by ?? ''} />
                  {item.differs.length === 0 ? (
                    <Tag tone="blue">same inputs</Tag>
                  ) : (
                    <span className="muted">
                      other <SafeText text={item.differs.join(', ')} />
                    </span>
                  )}
                </span>
                {item.comment ? (
                  <span className="muted similar-comment">
                    “<SafeText text={item.comment} />”
                  </span>
                ) : null}
              </span>
              {item.status === 'released' ? (
                <span className="row">
                  <span className="muted wide-only">ended</span>
                  <Status of={item.outcome} plain />
                </span>
              ) : null}
              <span className="muted wide-only">{item.decided_at ? <Time at={item.decided_at} /> : null}</span>
              <Id of={item.hold_id} />
            </div>
          ))}
        </div>
      )}
    </Panel>
  );
}

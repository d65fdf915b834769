import type { Grant } from '@capstan/contracts';
import { useQuery } from '@tanstack/react-query';
import { Repeat } from 'lucide-react';
import { listQuery, useSend } from '../../api/lists.js';
import { useMay } from '../../api/me.js';
import { RiskBadge, Tag } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { EmptyState } from '../../ui/empty.js';
import { ListBody } from '../../ui/list-body.js';
import { Panel } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { Time, useNow } from '../../ui/time.js';
import { useToast } from '../../ui/toast.js';

/** Approvals given in advance. */
export function Grants() {
  const grants = useQuery(listQuery<Grant>('grants', '/v1/grants'));
  return (
    <Panel title="Grants" sub="approvals given in advance" flush>
      <ListBody of={grants}>
        {(items) =>
          items.length === 0 ? (
            <EmptyState icon={<Repeat />} title="No approvals in advance">
              <p>To give one, choose “Approve the next calls too” on the page of a held call.</p>
            </EmptyState>
          ) : (
            <div className="mini-table">
              {items.map((grant) => (
                <GrantRow key={grant.grant_id} grant={grant} />
              ))}
            </div>
          )
        }
      </ListBody>
    </Panel>
  );
}

function GrantRow({ grant }: { grant: Grant }) {
  const send = useSend('grants');
  const say = useToast();
  const may = useMay('operate');
  const now = useNow();
  const { grant_id, actor, tool_id, kind, count, used, max_risk, expires_at, revoked_at } = grant;
  const spent = revoked_at !== null || Date.parse(expires_at) < now || (count !== null && used >= count);
  const revoke = async () => {
    try {
      await send('DELETE', `/v1/grants/${encodeURIComponent(grant_id)}`);
      say('The grant is revoked', 'Calls it has released stay released.');
    } catch (error) {
      say.problem('The grant could not be revoked', error);
    }
  };
  return (
    <div className="mini-row">
      <strong className="truncate">
        <SafeText text={tool_id ?? `plan ${grant.plan_hash ?? ''}`} />
      </strong>
      <RiskBadge risk={max_risk} />
      <span className="grow muted truncate">
        {kind} · by <SafeText text={actor} />
      </span>
      <span className="num grant-used">
        {used}
        {count === null ? '' : ` of ${count}`} used
      </span>
      {spent ? (
        <Tag>{revoked_at ? 'revoked' : 'used up'}</Tag>
      ) : (
        <>
          <span className="muted wide-only">
            ends <Time at={expires_at} />
          </span>
          <Button size="small" kind="danger" may={may} onClick={() => void revoke()}>
            Revoke
          </Button>
        </>
      )}
    </div>
  );
}

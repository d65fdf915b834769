import type { QuotaLimits, QuotaUsage } from '@capstan/contracts';
import { useQuery } from '@tanstack/react-query';
import { Gauge, Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { listQuery, useSend } from '../../api/lists.js';
import { useMay } from '../../api/me.js';
import { Tag } from '../../ui/badge.js';
import { Button, IconButton } from '../../ui/button.js';
import { EmptyState } from '../../ui/empty.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { ListBody } from '../../ui/list-body.js';
import { Page } from '../../ui/page.js';
import { Panel } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { duration } from '../../ui/time.js';
import { QuotaDialog } from './quota-dialog.js';
import './quotas.css';

const LIMITS: readonly [keyof QuotaLimits, string, (usage: QuotaUsage) => number][] = [
  ['max_concurrent', 'At the same time', ({ concurrent }) => concurrent],
  ['calls_per_minute', 'Calls this minute', ({ calls_this_minute }) => calls_this_minute],
  ['calls_per_day', 'Calls today', ({ calls_today }) => calls_today],
  ['max_runtime_ms_per_day', 'Run time today', ({ runtime_ms_today }) => runtime_ms_today],
  ['max_cost_units_per_day', 'Cost today', ({ cost_units_today }) => cost_units_today],
];

/** The quotas, with their usage as bars. */
export function Quotas() {
  const usage = useQuery({ ...listQuery<QuotaUsage>('quotas', '/v1/quotas/usage'), refetchInterval: 5000 });
  const admin = useMay('admin');
  const send = useSend('quotas');
  const [editing, setEditing] = useState<QuotaUsage | 'new' | null>(null);
  const [removing, setRemoving] = useState<QuotaUsage | null>(null);
  return (
    <Page
      title="Quotas"
      actions={
        <Button kind="primary" icon={<Plus />} may={admin} onClick={() => setEditing('new')}>
          New quota
        </Button>
      }
    >
      <ListBody of={usage}>
        {(items) =>
          items.length === 0 ? (
            <EmptyState icon={<Gauge />} title="No quotas">
              <p>
                A quota limits how many calls of a tenant, an actor, a tool, a source or a runner type run at once, per
                minute or per day.
              </p>
            </EmptyState>
          ) : (
            <div className="grid-2 wide">
              {items.map((quota) => (
                <Panel
                  key={quota.scope}
                  title={quota.scope}
                  actions={
                    <>
                      <IconButton
                        icon={<Pencil />}
                        label={`Change ${quota.scope}`}
                        may={admin}
                        onClick={() => setEditing(quota)}
                      />
                      <IconButton
                        icon={<Trash2 />}
                        label={`Remove ${quota.scope}`}
                        may={admin}
                        onClick={() => setRemoving(quota)}
                      />
                    </>
                  }
                >
                  <div className="stack">
                    {LIMITS.map(([name, label, usedOf]) => {
                      const limit = quota.limits[name];
                      if (limit === undefined) return null;
                      return (
                        <Used
                          key={name}
                          label={label}
                          used={usedOf(quota)}
                          limit={limit}
                          span={name === 'max_runtime_ms_per_day'}
                        />
                      );
                    })}
                    <p className="row between muted">
                      {quota.on_exceed === 'defer' ? 'Calls over the limit wait.' : 'Calls over the limit are denied.'}
                      {quota.waiting > 0 ? <Tag tone="amber">{quota.waiting.toLocaleString()} waiting</Tag> : null}
                    </p>
                  </div>
                </Panel>
              ))}
            </div>
          )
        }
      </ListBody>
      {editing ? <QuotaDialog quota={editing === 'new' ? null : editing} onClose={() => setEditing(null)} /> : null}
      {removing ? (
        <FormDialog
          title={`Remove ${removing.scope}`}
          action="Remove"
          danger
          onClose={() => setRemoving(null)}
          onSubmit={() => send('DELETE', `/v1/quotas/${encodeURIComponent(removing.scope)}`)}
        >
          <p>
            <SafeText text={removing.scope} /> is no longer limited.{' '}
            {removing.waiting > 0
              ? `${removing.waiting === 1 ? 'The call that waits' : `The ${removing.waiting.toLocaleString()} calls that wait`} for it can run.`
              : ''}
          </p>
        </FormDialog>
      ) : null}
    </Page>
  );
}

type UsedProps = { label: string; used: number; limit: number; span: boolean };

const Used = ({ label, used, limit, span }: UsedProps) => {
  const part = limit === 0 ? 100 : Math.min(100, (100 * used) / limit);
  const text = (value: number) => (span ? duration(value) : value.toLocaleString());
  return (
    <div className="quota">
      <div className="row between">
        <span>{label}</span>
        <span className="num muted">
          {text(used)} of {text(limit)}
        </span>
      </div>
      <div
        className={`quota-track ${part >= 100 ? 'tone-red' : part >= 80 ? 'tone-amber' : ''}`}
        role="meter"
        aria-label={label}
        aria-valuenow={used}
        aria-valuemin={0}
        aria-valuemax={limit}
      >
        <span style={{ width: `${part}%` }} />
      </div>
    </div>
  );
};

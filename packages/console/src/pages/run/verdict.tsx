import type { RunDetail, Verification } from '@capstan/contracts';
import { useQuery } from '@tanstack/react-query';
import { BadgeCheck, ShieldAlert } from 'lucide-react';
import { useState } from 'react';
import { get } from '../../api/request.js';
import { isOver, runPath } from '../../api/runs.js';
import { Dialog } from '../../ui/dialog.js';
import { ErrorState, Loading } from '../../ui/empty.js';
import { Id } from '../../ui/id.js';
import { Facts } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';

/** Verifies all hashes of the run on request, and shows mismatches. */
export function Verdict({ run }: { run: RunDetail }) {
  const [open, setOpen] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ['verify', run.run_id, run.status],
    queryFn: ({ signal }) => get<Verification>(runPath(run.run_id, '/verify'), {}, signal),
    enabled: open,
    staleTime: 0,
  });
  if (!isOver(run.status)) return null;
  return (
    <>
      <button
        type="button"
        className={`button small ${data && !data.ok ? 'danger' : ''}`}
        onClick={() => setOpen(true)}
      >
        {data && !data.ok ? <ShieldAlert /> : <BadgeCheck />}
        {data ? (data.ok ? 'Verified' : 'Does not verify') : 'Verify'}
      </button>
      {open ? (
        <Dialog title="Verification" onClose={() => setOpen(false)} width={560}>
          {error ? (
            <ErrorState error={error} retry={() => void refetch()} />
          ) : data ? (
            <>
              <div className={`note tone-${data.ok ? 'green' : 'red'}`} role="status">
                {data.ok ? <BadgeCheck /> : <ShieldAlert />}
                <span>
                  {data.ok
                    ? `All ${data.checked.toLocaleString()} records are unchanged.`
                    : `${data.mismatches.length + data.more} of ${data.checked.toLocaleString()} records were changed.`}
                </span>
              </div>
              <Facts
                of={[
                  ['Log', data.checkpoint && <SafeText key="log" text={data.checkpoint.origin} />],
                  ['Entries', data.checkpoint?.size.toLocaleString()],
                  ['Root', data.checkpoint && <Id key="root" of={data.checkpoint.root} link={false} />],
                  ['Removed', data.removed.length > 0 && `${data.removed.length + data.removed_more} by retention`],
                ]}
              />
              {data.mismatches.map(({ table, row, field, why }) => (
                <div key={`${table} ${row} ${field}`} className="problem">
                  <strong>
                    <SafeText text={`${table} ${row}: ${field}`} />
                  </strong>
                  <SafeText text={why} />
                </div>
              ))}
            </>
          ) : (
            <Loading lines={3} />
          )}
        </Dialog>
      ) : null}
    </>
  );
}

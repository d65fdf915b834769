import type { Invocation } from '@capstan/contracts';
import { useState } from 'react';
import { useInvocationActions } from '../../api/invocations.js';
import { getAll, type Query } from '../../api/request.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { useToast } from '../../ui/toast.js';
import { mayResolve, NOTHING_FOUND, ResolveFields } from '../invocation/resolve-fields.js';

type Props = { filter: Query; count: number; onClose(): void };

const AT_A_TIME = 8;

/** Says the same of all matching ambiguous calls. */
export function BulkResolveDialog({ filter, count, onClose }: Props) {
  const { resolve } = useInvocationActions();
  const say = useToast();
  const [finding, setFinding] = useState(NOTHING_FOUND);
  const submit = async () => {
    const calls = await getAll<Invocation>('/v1/invocations', { ...filter, status: 'ambiguous', limit: 500 });
    const failures: unknown[] = [];
    for (let at = 0; at < calls.length; at += AT_A_TIME) {
      const some = calls.slice(at, at + AT_A_TIME);
      const ends = await Promise.allSettled(some.map(({ invocation_id }) => resolve(invocation_id, finding)));
      failures.push(...ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : [])));
    }
    say(`Resolved ${(calls.length - failures.length).toLocaleString()} of ${calls.length.toLocaleString()}`);
    if (failures.length > 0) throw failures[0];
  };
  return (
    <FormDialog
      title={`Resolve ${count.toLocaleString()} ambiguous ${count === 1 ? 'invocation' : 'invocations'}`}
      action={`Resolve ${count.toLocaleString()}`}
      may={count > 0 ? mayResolve(finding) : { ok: false, why: 'None of the matches is ambiguous.' }}
      onClose={onClose}
      onSubmit={submit}
    >
      <p>Their workers were lost during the run. Find out whether the calls took effect, then record it here.</p>
      <ResolveFields value={finding} onChange={setFinding} />
    </FormDialog>
  );
}

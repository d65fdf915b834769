import type { BulkAnswer, Invocation } from '@capstan/contracts';
import { isObject } from '@capstan/contracts/is-object';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { hasEnded } from '../../api/invocations.js';
import { useSend } from '../../api/lists.js';
import { getAll, type Query } from '../../api/request.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { SafeText } from '../../ui/safe-text.js';
import { JsonField } from '../../ui/schema-form.js';
import { useToast } from '../../ui/toast.js';

type Props = { filter: Query; count: number; tools: readonly string[]; onClose(): void };

const MOST = 1000;

/** Makes new calls like all that match and have ended, with some members of the inputs changed. They are one run. */
export function BulkAgainDialog({ filter, count, tools, onClose }: Props) {
  const send = useSend('runs', 'invocations', 'invocation-counts');
  const navigate = useNavigate();
  const say = useToast();
  const [changes, setChanges] = useState<unknown>({});
  const submit = async () => {
    if (!isObject(changes)) return;
    const calls = await getAll<Invocation>('/v1/invocations', { ...filter, limit: 500 }, 2 * MOST);
    const invocations = calls
      .filter(({ status }) => hasEnded(status))
      .map(({ tool_id, inputs, session_id, labels }) => ({
        tool_id,
        inputs: { ...inputs, ...changes },
        labels,
        ...(session_id ? { session_id } : {}),
      }));
    const { run_id, accepted, held } = await send<BulkAnswer>('POST', '/v1/invocations/bulk', { invocations });
    say(`Submitted ${invocations.length.toLocaleString()}`, `${accepted} accepted, ${held} held.`);
    await navigate({ to: '/runs/$id', params: { id: run_id } });
  };
  return (
    <FormDialog
      title={`Run ${count.toLocaleString()} ${count === 1 ? 'invocation' : 'invocations'} with changed inputs`}
      action={`Run ${count.toLocaleString()}`}
      may={mayRun(count, tools, changes)}
      onClose={onClose}
      onSubmit={submit}
    >
      <p>
        Each is a new call{tools.length === 1 ? ' of ' : ''}
        {tools.length === 1 ? <SafeText text={tools[0] ?? ''} /> : null}, with the same inputs except for these members.
        Policy decides on each again. A tool that is not idempotent takes effect a second time.
      </p>
      <JsonField
        label="Changed members"
        hint="A JSON object; {} changes nothing."
        wrong={isObject(changes) ? undefined : 'It is not an object.'}
        value={{}}
        onChange={setChanges}
      />
    </FormDialog>
  );
}

function mayRun(count: number, tools: readonly string[], changes: unknown) {
  if (count === 0) return { ok: false, why: 'None of the matches has ended.' };
  if (tools.length > 1) return { ok: false, why: 'Filter for one tool first: other tools take other inputs.' };
  if (count > MOST) return { ok: false, why: `At most ${MOST.toLocaleString()} at once: filter for fewer.` };
  return { ok: isObject(changes), why: 'Give a JSON object.' };
}

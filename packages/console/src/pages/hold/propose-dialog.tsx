import type { Hold, Json, PolicyRule, WhatIfAnswer } from '@capstan/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useHoldActions } from '../../api/holds.js';
import { useMay, useMe } from '../../api/me.js';
import { policyTextQuery, putPolicy } from '../../api/policy.js';
import { post } from '../../api/request.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { ErrorState, Loading, ProblemNote } from '../../ui/empty.js';
import { JsonView } from '../../ui/json-view.js';
import { SafeText } from '../../ui/safe-text.js';
import { useToast } from '../../ui/toast.js';
import { WhatIfResult } from '../policy/what-if-result.js';

type Proposal = { rule: PolicyRule; yaml: string; covers: Record<string, Json>; what_if: WhatIfAnswer };

/** A rule that would let calls like this one through: what it says, what it covers, what it would have changed. */
export function ProposeDialog({ hold, onClose }: { hold: Hold; onClose(): void }) {
  const me = useMe();
  const admin = useMay('admin');
  const say = useToast();
  const queries = useQueryClient();
  const { release } = useHoldActions();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const { data, error } = useQuery({
    queryKey: ['policy', 'proposal', hold.hold_id],
    queryFn: () => post<Proposal>('/v1/policy/propose', { hold_id: hold.hold_id }),
    staleTime: 60_000,
  });

  const putRule = async (rule: PolicyRule) => {
    // The policy of a tenant of its own, or the one that governs all without.
    const names = [me?.tenant ?? 'default', 'default'];
    for (const name of new Set(names)) {
      const kept = await queries.fetchQuery(policyTextQuery(name)).catch(() => null);
      if (kept === null) continue;
      const { parseDocument } = await import('yaml');
      const document = parseDocument(kept.text);
      document.addIn(['rules'], document.createNode(rule));
      const { version } = await putPolicy(name, String(document), kept.etag);
      await queries.invalidateQueries({ queryKey: ['policy'] });
      return `Version ${version} of ${name} has the rule.`;
    }
    throw new Error('There is no policy to add it to.');
  };
  const approve = async (rule: PolicyRule | null) => {
    if (busy) return;
    setBusy(true);
    setProblem(null);
    try {
      await release(hold.hold_id, { input_hash: hold.input_hash });
      say('Your approval is in', rule ? await putRule(rule) : undefined);
      onClose();
    } catch (failure) {
      setProblem(failure);
      setBusy(false);
    }
  };

  return (
    <Dialog
      title="Approve, and propose a rule"
      onClose={onClose}
      width={680}
      footer={
        data ? (
          <>
            <Button busy={busy} may={hold.can_decide} onClick={() => void approve(null)}>
              Approve without the rule
            </Button>
            <Button
              kind="primary"
              busy={busy}
              may={hold.can_decide.ok ? admin : hold.can_decide}
              onClick={() => void approve(data.rule)}
            >
              Approve, and put the rule in force
            </Button>
          </>
        ) : null
      }
    >
      {error ? (
        <ErrorState error={error} />
      ) : data ? (
        <>
          <p>Calls that this rule covers would run without being held:</p>
          <pre className="block">
            <SafeText text={data.yaml} line={false} />
          </pre>
          <h3>What it covers</h3>
          <JsonView label="What it covers" value={data.covers} />
          <h3>What it would have changed over the last 30 days</h3>
          <WhatIfResult of={data.what_if} />
          {admin.ok ? null : <p className="muted">An admin can put it in force; hand them the text above.</p>}
          <ProblemNote error={problem} />
        </>
      ) : (
        <Loading lines={8} />
      )}
    </Dialog>
  );
}

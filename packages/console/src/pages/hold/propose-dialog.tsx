import type { Hold, PolicyProposal } from '@capstan/contracts';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useHoldActions } from '../../api/holds.js';
import { useMay } from '../../api/me.js';
import { putPolicy } from '../../api/policy.js';
import { post } from '../../api/request.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { ErrorState, Loading, ProblemNote } from '../../ui/empty.js';
import { CheckField } from '../../ui/field.js';
import { Facts } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { useToast } from '../../ui/toast.js';
import { WhatIfResult } from '../policy/what-if-result.js';

/** The gateway's placeholder for a secret. Secrets must not be part of a policy. */
const REDACTED = '[REDACTED]';
const holdsSecret = (value: unknown): boolean => JSON.stringify(value).includes(REDACTED);

/** Proposes a rule that would allow calls like this one: its text, its scope, and the decisions it would have changed. */
export function ProposeDialog({ hold, onClose }: { hold: Hold; onClose(): void }) {
  const admin = useMay('admin');
  const say = useToast();
  const queries = useQueryClient();
  const { release } = useHoldActions();
  /** The version with the rule, so that it is not stored twice if the approval has to be repeated. */
  const stored = useRef<number>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const members = Object.entries(hold.inputs);
  const [same, setSame] = useState(() => members.filter(([, value]) => !holdsSecret(value)).map(([name]) => name));
  const { data, error } = useQuery({
    queryKey: ['policy', 'proposal', hold.hold_id, hold.input_hash, same],
    queryFn: () =>
      post<PolicyProposal>('/v1/policy/propose', {
        hold_id: hold.hold_id,
        ...(same.length === members.length ? {} : { inputs: same }),
      }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });

  const approve = async (policy: PolicyProposal['policy']) => {
    if (busy) return;
    setBusy(true);
    setProblem(null);
    const approveIt = () => release(hold.hold_id, { input_hash: hold.input_hash });
    const putRule = async () => {
      if (!policy) return;
      stored.current ??= (await putPolicy(policy.name, policy.text, `"${policy.version}"`)).version;
      await queries.invalidateQueries({ queryKey: ['policy'] });
    };
    try {
      // An approval is bound to the policy in force. If the rule came second, the call could be held again before it starts. With
      // votes of others it has to come second, because it would void them.
      const is_first = hold.approvals.given === 0;
      if (is_first) await putRule();
      await approveIt();
      if (!is_first) await putRule();
      say(
        'Your approval is recorded',
        policy ? `Version ${stored.current} of ${policy.name} has the rule.` : undefined,
      );
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
      width={960}
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
              onClick={() => void approve(data.policy)}
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
          <div className="propose">
            <div className="stack">
              <pre className="block">
                <SafeText text={data.yaml} line={false} />
              </pre>
              {members.length > 0 ? (
                <fieldset className="schema-group">
                  <legend>
                    {data.covers.exact ? 'Exactly these inputs' : 'These inputs; all others may be anything'}
                  </legend>
                  {members.map(([name, value]) => (
                    <CheckField
                      key={name}
                      label={
                        <span className="truncate">
                          <SafeText text={`${name} = ${JSON.stringify(value)}`} />
                          {holdsSecret(value) ? <span className="muted"> a secret, so it may be anything</span> : null}
                        </span>
                      }
                      value={same.includes(name)}
                      disabled={holdsSecret(value)}
                      onChange={(on) => setSame(on ? [...same, name] : same.filter((each) => each !== name))}
                    />
                  ))}
                </fieldset>
              ) : null}
            </div>
            <div className="stack">
              <h3>What it covers</h3>
              <Facts
                of={[
                  ['Tool', <SafeText key="tool" text={data.covers.tool_id} />],
                  ['Submitted by', <SafeText key="actor" text={`${data.covers.actor} of ${data.covers.tenant}`} />],
                  ['No longer held by', <SafeText key="holds" text={data.covers.holds.join(', ')} />],
                ]}
              />
              <h3>What it would have changed over the last 30 days</h3>
              <WhatIfResult of={data.what_if} />
            </div>
          </div>
          {admin.ok ? null : <p className="muted">An admin can put it in force; hand them the text above.</p>}
          <ProblemNote error={problem} />
        </>
      ) : (
        <Loading lines={8} />
      )}
    </Dialog>
  );
}

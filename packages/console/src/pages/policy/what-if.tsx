import type { WhatIfAnswer } from '@capstan/contracts';
import { DAY_MS } from '@capstan/contracts/time';
import { FlaskConical } from 'lucide-react';
import { useState } from 'react';
import { useMay } from '../../api/me.js';
import { whatIf } from '../../api/policy.js';
import { Button } from '../../ui/button.js';
import { ProblemNote } from '../../ui/empty.js';
import { SelectField } from '../../ui/field.js';
import { Panel } from '../../ui/panel.js';
import { WhatIfResult } from './what-if-result.js';

type Props = { draft: string; changed: boolean; wrong: boolean };

/** Shows the recorded decisions that a draft would change, before it is put in force. */
export function WhatIf({ draft, changed, wrong }: Props) {
  const may = useMay('admin', 'audit');
  const [days, setDays] = useState('30');
  const [answer, setAnswer] = useState<{ of: string; result: WhatIfAnswer } | null>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const look = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const since = new Date(Date.now() - Number(days) * DAY_MS).toISOString();
      setAnswer({ of: draft, result: await whatIf(draft, since) });
    } catch (error) {
      setProblem(error);
    }
    setBusy(false);
  };
  return (
    <Panel title="What if">
      <div className="stack">
        <p className="muted">
          Decides recorded calls again with {changed ? 'your draft' : 'this document'}. Nothing runs.
        </p>
        <SelectField
          label="Calls from the last"
          value={days}
          onChange={setDays}
          options={[
            ['1', 'day'],
            ['7', '7 days'],
            ['30', '30 days'],
          ]}
        />
        <Button
          icon={<FlaskConical />}
          busy={busy}
          may={wrong ? { ok: false, why: 'Correct the mistakes first.' } : may}
          onClick={() => void look()}
        >
          {busy ? 'Checking' : 'Check'}
        </Button>
        <ProblemNote error={problem} />
        {answer ? (
          <>
            {answer.of === draft ? null : <div className="note tone-amber">The draft has changed since.</div>}
            <WhatIfResult of={answer.result} />
          </>
        ) : (
          <p className="muted">Shows the calls that would be decided differently.</p>
        )}
      </div>
    </Panel>
  );
}

import type { Explanation, Invocation, JsonObject } from '@capstan/contracts';
import { isObject } from '@capstan/contracts/is-object';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Play, ShieldQuestion } from 'lucide-react';
import { useEffect, useState } from 'react';
import { invocationQuery } from '../../api/invocations.js';
import { useMay } from '../../api/me.js';
import { post } from '../../api/request.js';
import type { ToolDetail } from '../../api/tools.js';
import { useSearchState } from '../../app/search.js';
import { Tag } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { ProblemNote } from '../../ui/empty.js';
import { Panel } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { JsonField, SchemaForm } from '../../ui/schema-form.js';
import { Segmented } from '../../ui/tabs.js';

const TONES = { allow: 'green', hold: 'amber', deny: 'red' } as const;
const WORDS = { allow: 'It would run', hold: 'It would be held', deny: 'It would be denied' } as const;

/** A dry run shows the decision of the policy; otherwise the tool is called. `?from=inv_…` starts with the inputs of that call. */
export function TryTool({ tool }: { tool: ToolDetail }) {
  const navigate = useNavigate();
  const [{ from = '' }] = useSearchState();
  const { data: model } = useQuery({ ...invocationQuery(from), enabled: from !== '' });
  const may = useMay('submit');
  const [inputs, setInputs] = useState<JsonObject>({});
  const [view, setView] = useState<'form' | 'json'>('form');
  const [verdict, setVerdict] = useState<Explanation | null>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  useEffect(() => {
    if (model) setInputs(model.inputs);
  }, [model]);
  const change = (next: JsonObject) => {
    setInputs(next);
    setVerdict(null);
  };
  const attempt = async (act: () => Promise<void>) => {
    if (busy) return;
    setBusy(true);
    setProblem(null);
    try {
      await act();
    } catch (error) {
      setProblem(error);
    }
    setBusy(false);
  };
  const explain = () =>
    attempt(async () => setVerdict(await post<Explanation>('/v1/policy/explain', { tool_id: tool.tool_id, inputs })));
  const invoke = () =>
    attempt(async () => {
      const call = await post<Invocation>('/v1/invocations', {
        tool_id: tool.tool_id,
        inputs,
        // The same files, and found by the same filters.
        ...(model?.session_id ? { session_id: model.session_id } : {}),
        ...(model ? { labels: model.labels } : {}),
      });
      await navigate({ to: '/invocations/$id', params: { id: call.invocation_id } });
    });
  const errors = Object.fromEntries((verdict?.errors ?? []).map(({ field, message }) => [field, message]));
  return (
    <Panel
      title={from ? 'A call like that one' : 'Try it'}
      actions={
        <Segmented<'form' | 'json'>
          label="Inputs as"
          value={view}
          onChange={setView}
          options={[
            { name: 'form', label: 'Form' },
            { name: 'json', label: 'JSON' },
          ]}
        />
      }
    >
      <div className="stack">
        {view === 'form' ? (
          <SchemaForm
            key={model?.invocation_id ?? ''}
            schema={tool.input_schema}
            value={inputs}
            onChange={change}
            errors={errors}
          />
        ) : (
          <JsonField
            key={model?.invocation_id ?? ''}
            label="Inputs"
            wrong={undefined}
            value={inputs}
            onChange={(value) => isObject(value) && change(value)}
          />
        )}
        {verdict ? (
          <div className={`note tone-${TONES[verdict.effect]}`} role="status">
            <div className="verdict">
              <strong>{WORDS[verdict.effect]}</strong>
              <span>
                <SafeText text={verdict.reason} />
                {verdict.rule_matched ? (
                  <>
                    {' '}
                    <Tag tone={TONES[verdict.effect]}>
                      <SafeText text={verdict.rule_matched} />
                    </Tag>
                  </>
                ) : null}
              </span>
              {verdict.suggestion ? <SafeText text={verdict.suggestion} /> : null}
            </div>
          </div>
        ) : null}
        <ProblemNote error={problem} />
        <div className="row wrap">
          <Button icon={<ShieldQuestion />} busy={busy} onClick={() => void explain()}>
            Explain
          </Button>
          <Button
            kind="primary"
            icon={<Play />}
            busy={busy}
            may={tool.enabled ? may : { ok: false, why: 'The tool is disabled.' }}
            onClick={() => void invoke()}
          >
            Invoke
          </Button>
          <span className="muted">Explain says what policy would decide; nothing runs.</span>
        </div>
      </div>
    </Panel>
  );
}

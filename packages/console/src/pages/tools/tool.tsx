import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { toolQuery } from '../../api/tools.js';
import { effectsInWords, RISK_IN_WORDS, sideEffectInWords } from '../../domain/effects.js';
import { RiskBadge, Tag } from '../../ui/badge.js';
import { ErrorState, Loading } from '../../ui/empty.js';
import { Id } from '../../ui/id.js';
import { JsonView } from '../../ui/json-view.js';
import { Page } from '../../ui/page.js';
import { Facts, Panel } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { duration } from '../../ui/time.js';
import { EnableButton } from './enable-button.js';
import { TryTool } from './try-tool.js';
import './tools.css';

/** The page of a tool: its description, inputs and risk, and how the risk was determined. */
export function ToolPage() {
  const { id = '' } = useParams({ strict: false });
  const { data: tool, error, refetch } = useQuery(toolQuery(id));
  if (!tool)
    return (
      <Page title="Tool" crumb={<Link to="/tools">Tools</Link>}>
        {error ? <ErrorState error={error} retry={() => void refetch()} /> : <Loading />}
      </Page>
    );
  return (
    <Page
      title={tool.tool_id}
      crumb={<Link to="/tools">Tools</Link>}
      heading={<SafeText text={tool.tool_id} />}
      beside={
        <>
          <RiskBadge risk={tool.risk} />
          {tool.enabled ? null : <Tag tone="amber">Disabled</Tag>}
        </>
      }
      sub={<SafeText text={tool.description} />}
      actions={<EnableButton tool={tool} />}
    >
      <div className="columns wide">
        <div className="stack sections">
          {tool.unavailable ? (
            <div className="note tone-amber">
              <span>
                It cannot be called now: <SafeText text={tool.unavailable} />.
              </span>
            </div>
          ) : null}
          <TryTool tool={tool} />
          <Panel title="Schema of the inputs">
            <JsonView label="Schema of the inputs" value={tool.input_schema} depth={2} />
          </Panel>
        </div>
        <div className="stack">
          <Panel title="What it does">
            <div className="stack">
              <p>{RISK_IN_WORDS[tool.risk]}</p>
              <ul className="stack tight">
                {effectsInWords(tool.effects).map(({ text, tone }) => (
                  <li key={text} className={`effect tone-${tone}`}>
                    <span className="dot" />
                    {text}
                  </li>
                ))}
              </ul>
              {tool.side_effects.length > 0 ? (
                <p className="muted">It declares that it {tool.side_effects.map(sideEffectInWords).join(', ')}.</p>
              ) : null}
            </div>
          </Panel>
          <Panel title="Source">
            <div className="stack">
              <Facts
                of={[
                  ['Kind', tool.source],
                  ['From', <SafeText key="origin" text={tool.origin} />],
                  ['Runner', tool.runner],
                  ['Trust', tool.trust],
                  ['Timeout', tool.timeout_ms && duration(tool.timeout_ms)],
                  ['Hash', <Id key="hash" of={tool.descriptor_hash} link={false} />],
                ]}
              />
              {tool.inferred.length > 0 ? (
                <div>
                  <h3>Inferred, not declared</h3>
                  {tool.inferred.map(({ field, why }) => (
                    <div key={field} className="rule">
                      <code>
                        <SafeText text={field} />
                      </code>
                      <span className="muted">
                        <SafeText text={why} />
                      </span>
                    </div>
                  ))}
                </div>
              ) : (
                <p className="muted">The source declares everything.</p>
              )}
            </div>
          </Panel>
        </div>
      </div>
    </Page>
  );
}

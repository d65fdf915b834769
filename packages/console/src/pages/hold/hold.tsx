import type { Hold, JsonObject } from '@capstan/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { holdQuery } from '../../api/holds.js';
import { useKeys } from '../../app/keys.js';
import { useSearchState } from '../../app/search.js';
import { Intent } from '../../domain/intent.js';
import { RiskBadge, Status } from '../../ui/badge.js';
import { ErrorState, Loading } from '../../ui/empty.js';
import { Id } from '../../ui/id.js';
import { Page } from '../../ui/page.js';
import { SafeText } from '../../ui/safe-text.js';
import { Time, Until } from '../../ui/time.js';
import { Before } from './before.js';
import { DecisionPanel } from './decision-panel.js';
import { History } from './history.js';
import { InputsPanel } from './inputs-panel.js';
import { QuestionPanel } from './question-panel.js';
import { EffectsPanel, ReasonsPanel } from './reasons.js';
import { Similar } from './similar.js';
import { ToolChangePanel } from './tool-change.js';
import './hold.css';

export function HoldPage() {
  const { id = '' } = useParams({ strict: false });
  const { data, error, refetch } = useQuery(holdQuery(id));
  if (data) return <Opened key={data.hold_id} hold={data} />;
  return (
    <Page title="Approval" crumb={<Crumb />}>
      {error ? <ErrorState error={error} retry={() => void refetch()} /> : <Loading lines={10} />}
    </Page>
  );
}

const Crumb = () => <Link to="/approvals">Approvals</Link>;

function Opened({ hold }: { hold: Hold }) {
  const [search, change] = useSearchState();
  const [draft, setDraft] = useState<JsonObject | null>(null);
  const is_pending = hold.status === 'pending';
  const asks = is_pending && hold.question !== null;
  const may_edit = is_pending && !asks && hold.can_decide.ok;
  const editing = may_edit && search.edit === 'yes';
  const edit = (on: boolean) => {
    change({ edit: on ? 'yes' : undefined });
    if (!on) setDraft(null);
  };
  useKeys({
    u: () => history.back(),
    ...(may_edit ? { e: () => edit(true) } : {}),
  });
  return (
    <Page
      title={hold.tool_id}
      crumb={<Crumb />}
      heading={<Intent tool_id={hold.tool_id} inputs={hold.inputs} />}
      sub={
        <span className="row wrap">
          <Status of={hold.status} />
          <RiskBadge risk={hold.risk} />
          <span>
            submitted by <SafeText text={hold.actor} /> <Time at={hold.created_at} />
          </span>
          <Id of={hold.invocation_id} />
          {is_pending ? <Until at={hold.expires_at} /> : null}
        </span>
      }
    >
      <div className="columns wide">
        <div className="stack sections">
          {asks ? <QuestionPanel hold={hold} /> : null}
          {hold.tool_change ? <ToolChangePanel change={hold.tool_change} /> : null}
          <InputsPanel hold={hold} editing={editing} draft={draft} onDraft={setDraft} onEdit={edit} />
          <div className="grid-2">
            <ReasonsPanel hold={hold} />
            <EffectsPanel hold={hold} />
          </div>
          <Before hold={hold} />
          <Similar hold={hold} />
          <History hold={hold} />
        </div>
        <DecisionPanel hold={hold} draft={editing ? draft : null} editing={editing} onEdit={edit} />
      </div>
    </Page>
  );
}

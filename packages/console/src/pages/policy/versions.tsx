import type { PolicyVersion } from '@capstan/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { useMay } from '../../api/me.js';
import { policyTextQuery, rollBack } from '../../api/policy.js';
import { Tag } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { MergeView } from '../../ui/code-editor-lazy.js';
import { EmptyState, Loading } from '../../ui/empty.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { Panel } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { Time } from '../../ui/time.js';
import { useToast } from '../../ui/toast.js';

/** Who changed what, version by version. */
export function Versions({ name, versions }: { name: string; versions: readonly PolicyVersion[] }) {
  const admin = useMay('admin');
  const queries = useQueryClient();
  const say = useToast();
  const [picked, setChosen] = useState<number | null>(null);
  const chosen = picked ?? versions[0]?.version ?? 1;
  const [asking, setAsking] = useState(false);
  const at = versions.findIndex(({ version }) => version === chosen);
  const before = versions[at + 1]?.version;
  const { data: is } = useQuery(policyTextQuery(name, chosen));
  const { data: was } = useQuery({ ...policyTextQuery(name, before ?? 0), enabled: before !== undefined });
  if (versions.length === 0) return <EmptyState title="There is no version yet" />;
  const back = async () => {
    const before = versions[0]?.version ?? 1;
    const { version } = await rollBack(name, chosen, before);
    await queries.invalidateQueries({ queryKey: ['policy'] });
    say(`Version ${chosen} is in force again`, undefined, () => rollBack(name, before, version));
  };
  return (
    <div className="versions wide">
      <Panel title="Versions" flush>
        {versions.map((each, place) => (
          <button
            key={each.version}
            type="button"
            className="version"
            aria-pressed={each.version === chosen}
            onClick={() => setChosen(each.version)}
          >
            <span className="row">
              <strong>Version {each.version}</strong>
              {place === 0 ? <Tag tone="green">in force</Tag> : null}
              <span className="muted push">
                <Time at={each.created_at} />
              </span>
            </span>
            <span className="muted">
              by <SafeText text={each.created_by} />
            </span>
          </button>
        ))}
      </Panel>
      <Panel
        title={before === undefined ? `Version ${chosen}` : `What version ${chosen} changed`}
        actions={
          at > 0 ? (
            <Button size="small" icon={<RotateCcw />} may={admin} onClick={() => setAsking(true)}>
              Roll back to this
            </Button>
          ) : null
        }
      >
        {is && (before === undefined || was) ? (
          <MergeView label={`Version ${chosen}`} language="yaml" before={was?.text ?? ''} after={is.text} />
        ) : (
          <Loading lines={6} />
        )}
      </Panel>
      {asking ? (
        <FormDialog
          title={`Roll back to version ${chosen}`}
          action="Roll back"
          onClose={() => setAsking(false)}
          onSubmit={back}
        >
          <p>
            A new version with the text of version {chosen} is put in force. Version {versions[0]?.version} stays on
            record, and can be rolled back to.
          </p>
        </FormDialog>
      ) : null}
    </div>
  );
}

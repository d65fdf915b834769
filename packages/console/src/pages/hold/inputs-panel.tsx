import type { Hold, JsonObject } from '@capstan/contracts';
import { isObject } from '@capstan/contracts/is-object';
import { useQuery } from '@tanstack/react-query';
import { Pencil, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { toolQuery } from '../../api/tools.js';
import { Button } from '../../ui/button.js';
import { CodeEditor } from '../../ui/code-editor-lazy.js';
import { changesOf, Diff } from '../../ui/diff.js';
import { Id } from '../../ui/id.js';
import { JsonView } from '../../ui/json-view.js';
import { Panel } from '../../ui/panel.js';
import { SchemaForm } from '../../ui/schema-form.js';
import { Tabs } from '../../ui/tabs.js';
import { mayOf } from '../approvals/inbox-columns.js';

type Props = {
  hold: Hold;
  editing: boolean;
  draft: JsonObject | null;
  onDraft(draft: JsonObject | null): void;
  onEdit(on: boolean): void;
};
type View = 'form' | 'json' | 'changes';

export function InputsPanel({ hold, editing, draft, onDraft, onEdit }: Props) {
  const { data: tool } = useQuery(toolQuery(hold.tool_id));
  const [view, setView] = useState<View>('form');
  const value = draft ?? hold.inputs;
  const changed = changesOf(hold.inputs, value).length;
  const earlier = hold.original_inputs;

  return (
    <Panel
      title="Inputs"
      sub={
        <>
          bound to <Id of={hold.input_hash} link={false} />
        </>
      }
      actions={
        editing ? (
          <Button size="small" icon={<Undo2 />} onClick={() => onEdit(false)}>
            Discard changes
          </Button>
        ) : hold.status === 'pending' && hold.question === null ? (
          <Button size="small" icon={<Pencil />} keys="e" {...mayOf(hold)} onClick={() => onEdit(true)}>
            Edit
          </Button>
        ) : null
      }
    >
      <Tabs<View>
        label="Inputs"
        value={view}
        onChange={setView}
        tabs={[
          {
            name: 'form',
            label: editing ? 'Form' : 'Fields',
            content: () =>
              editing && tool ? (
                <SchemaForm schema={tool.input_schema} value={value} onChange={onDraft} keeps_secrets />
              ) : (
                <JsonView label="Inputs" value={value} depth={4} />
              ),
          },
          {
            name: 'json',
            label: 'JSON',
            content: () => (
              <CodeEditor
                label="Inputs as JSON"
                language="json"
                read_only={!editing}
                value={JSON.stringify(value, null, 2)}
                onChange={(text) => onDraft(parsed(text) ?? draft)}
              />
            ),
          },
          {
            name: 'changes',
            label: editing ? `Changes${changed > 0 ? ` (${changed})` : ''}` : `Edits (${hold.edits.length})`,
            content: () => (
              <div className="stack">
                {editing ? <Diff before={hold.inputs} after={value} /> : null}
                {earlier ? (
                  <>
                    <h3>Since it was submitted</h3>
                    <Diff before={earlier} after={hold.inputs} />
                  </>
                ) : editing ? null : (
                  <p className="muted">Nobody has changed the inputs.</p>
                )}
              </div>
            ),
          },
        ]}
      />
    </Panel>
  );
}

const parsed = (text: string): JsonObject | null => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
};

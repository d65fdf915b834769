import { useQuery, useQueryClient } from '@tanstack/react-query';
import { History, Save, Undo2 } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useMay, useMe } from '../../api/me.js';
import { checkPolicy, policyTextQuery, putPolicy, versionsQuery } from '../../api/policy.js';
import { useSearchState } from '../../app/search.js';
import { Button } from '../../ui/button.js';
import type { Mistake } from '../../ui/code-editor.js';
import { CodeEditor, MergeView } from '../../ui/code-editor-lazy.js';
import { ErrorState, Loading } from '../../ui/empty.js';
import { FacetSelect } from '../../ui/facets.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { Page } from '../../ui/page.js';
import { Segmented } from '../../ui/tabs.js';
import { useToast } from '../../ui/toast.js';
import { Grants } from './grants.js';
import { Versions } from './versions.js';
import { WhatIf } from './what-if.js';
import './policy.css';

type View = 'edit' | 'versions' | 'grants';
const CHECK_MS = 400;

export function PolicyPage() {
  const [search, change] = useSearchState();
  const me = useMe();
  const admin = useMay('admin');
  const may = useMay('admin', 'audit');
  const queries = useQueryClient();
  const say = useToast();
  const { data: versions } = useQuery({ ...versionsQuery, enabled: may.ok });
  const names = [...new Set([me?.tenant ?? 'default', 'default', ...(versions ?? []).map(({ name }) => name)])];
  const name =
    search.name ?? (versions?.some((each) => each.name === me?.tenant) ? (me?.tenant ?? 'default') : 'default');
  const { data: kept, error, refetch } = useQuery({ ...policyTextQuery(name), enabled: may.ok });
  const [draft, setDraft] = useState<string | null>(null);
  const [saving, setSaving] = useState(false);
  const mistakes = useChecks(draft);
  const view = (search.view ?? 'edit') as View;
  const version = versions?.find((each) => each.name === name);
  const dirty = draft !== null && draft !== kept?.text;

  const save = async () => {
    const { version: put, warnings } = await putPolicy(name, draft ?? '', kept?.etag ?? null);
    say(`Version ${put} is in force`, warnings.map(({ message }) => message).join(' ') || undefined);
    setDraft(null);
    await queries.invalidateQueries({ queryKey: ['policy'] });
  };

  if (!may.ok)
    return (
      <Page title="Policy">
        <ErrorState error={new Error(may.why ?? '')} />
      </Page>
    );
  return (
    <Page
      title="Policy"
      beside={
        <>
          <FacetSelect
            label="Of"
            value={name}
            options={names}
            words={{
              _installation: 'the installation',
              ...Object.fromEntries(names.filter((each) => each !== '_installation').map((each) => [each, each])),
            }}
            onChange={(each) => {
              setDraft(null);
              change({ name: each });
            }}
            always
          />
          {version ? <span className="muted num">version {version.version}</span> : null}
        </>
      }
      actions={
        <>
          <Segmented<View>
            label="View"
            value={view}
            onChange={(each) => change({ view: each })}
            options={[
              { name: 'edit', label: 'Document' },
              {
                name: 'versions',
                label: (
                  <>
                    <History /> Versions
                  </>
                ),
              },
              { name: 'grants', label: 'Grants' },
            ]}
          />
          {view === 'edit' ? (
            <>
              {dirty ? (
                <Button icon={<Undo2 />} onClick={() => setDraft(null)}>
                  Discard
                </Button>
              ) : null}
              <Button
                kind="primary"
                icon={<Save />}
                may={
                  !admin.ok
                    ? admin
                    : !dirty
                      ? { ok: false, why: 'Nothing is changed.' }
                      : { ok: mistakes.length === 0, why: 'Correct the mistakes first.' }
                }
                onClick={() => setSaving(true)}
              >
                Save
              </Button>
            </>
          ) : null}
        </>
      }
    >
      {error && !kept ? (
        <ErrorState error={error} retry={() => void refetch()} />
      ) : !kept ? (
        <Loading lines={12} />
      ) : view === 'versions' ? (
        <Versions name={name} versions={(versions ?? []).filter((each) => each.name === name)} />
      ) : view === 'grants' ? (
        <Grants />
      ) : (
        <div className="columns wide policy">
          <div className="stack">
            <CodeEditor
              key={`${name} ${kept.etag ?? version?.version ?? ''} ${draft === null}`}
              label={`Policy ${name}`}
              language="yaml"
              value={draft ?? kept.text}
              onChange={setDraft}
              read_only={!admin.ok}
              mistakes={mistakes}
              onSave={() => dirty && mistakes.length === 0 && setSaving(true)}
            />
            {mistakes.map(({ line, message }) => (
              <div key={`${line} ${message}`} className="problem" role="alert">
                Line {line}: {message}
              </div>
            ))}
          </div>
          <WhatIf draft={draft ?? kept.text} changed={dirty} wrong={mistakes.length > 0} />
        </div>
      )}
      {saving && kept ? (
        <FormDialog
          title={`Save a new version of ${name}`}
          action="Put in force"
          width={760}
          onClose={() => setSaving(false)}
          onSubmit={save}
        >
          <p>
            It is in force at once for calls that are submitted from now on; calls that wait are decided again before
            they run.
          </p>
          <MergeView label="Changes" language="yaml" before={kept.text} after={draft ?? ''} />
        </FormDialog>
      ) : null}
    </Page>
  );
}

/** Checks the draft when typing pauses. */
function useChecks(draft: string | null): readonly Mistake[] {
  const [mistakes, setMistakes] = useState<readonly Mistake[]>([]);
  useEffect(() => {
    if (draft === null) return setMistakes([]);
    let old = false;
    const timer = setTimeout(() => {
      checkPolicy(draft).then(
        (found) => !old && setMistakes(found),
        () => {},
      );
    }, CHECK_MS);
    return () => {
      old = true;
      clearTimeout(timer);
    };
  }, [draft]);
  return mistakes;
}

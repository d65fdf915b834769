import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { History, Save, TriangleAlert, Undo2 } from 'lucide-react';
import { useEffect, useState } from 'react';
import { type May, useMay, useMe } from '../../api/me.js';
import { checkPolicy, type PolicyText, policyTextQuery, putPolicy, rollBack, versionsQuery } from '../../api/policy.js';
import { useSearchState } from '../../app/search.js';
import { Button } from '../../ui/button.js';
import type { Mistake } from '../../ui/code-editor.js';
import { CodeEditor, MergeView } from '../../ui/code-editor-lazy.js';
import { ErrorState, Forbidden, Loading } from '../../ui/empty.js';
import { FacetSelect } from '../../ui/facets.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { Page } from '../../ui/page.js';
import { SafeText } from '../../ui/safe-text.js';
import { Segmented } from '../../ui/tabs.js';
import { useToast } from '../../ui/toast.js';
import { Grants } from './grants.js';
import { Versions } from './versions.js';
import { WhatIf } from './what-if.js';
import './policy.css';

type View = 'edit' | 'versions' | 'grants';
/** A changed text, and the version that it was made from. */
type Draft = { text: string; base: PolicyText };
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
  const [draft, setDraft] = useState<Draft | null>(null);
  const [asking, setAsking] = useState<'save' | 'overtaken' | null>(null);
  const mistakes = useChecks(draft?.text ?? null);
  const view = (search.view ?? 'edit') as View;
  const version = versions?.find((each) => each.name === name);
  const dirty = draft !== null;
  const base = draft?.base ?? kept;
  /** Somebody else has stored another version since the first change. Saving the draft would undo theirs. */
  const overtaken = dirty && asking !== 'save' && kept !== undefined && kept.etag !== draft.base.etag;

  useBlocker({
    enableBeforeUnload: dirty,
    shouldBlockFn: ({ current, next }) =>
      dirty && current.pathname !== next.pathname && !window.confirm('Leave without saving the changed policy?'),
  });
  const edit = (text: string) => {
    if (base) setDraft(text === base.text ? null : { text, base });
  };
  const ready: May = !admin.ok
    ? admin
    : !dirty
      ? { ok: false, why: 'No changes.' }
      : overtaken
        ? { ok: false, why: 'Review the version that was put in force first.' }
        : { ok: mistakes.length === 0, why: 'Correct the mistakes first.' };
  const save = async () => {
    if (!draft) return;
    const { version: put, warnings } = await putPolicy(name, draft.text, draft.base.etag);
    const before = version?.version;
    const detail = warnings.map(({ message }) => message).join(' ') || undefined;
    say(`Version ${put} is in force`, detail, before === undefined ? undefined : () => rollBack(name, before, put));
    await queries.invalidateQueries({ queryKey: ['policy'] });
    setDraft(null);
  };

  if (!may.ok)
    return (
      <Page title="Policy">
        <Forbidden why={may.why} />
      </Page>
    );
  return (
    <Page
      title="Policy"
      beside={
        <>
          <FacetSelect
            label="For"
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
              <Button kind="primary" icon={<Save />} may={ready} onClick={() => setAsking('save')}>
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
            {overtaken ? (
              <div className="note tone-amber" role="status">
                <TriangleAlert />
                <span className="grow">
                  <SafeText
                    text={
                      version
                        ? `${version.created_by} put version ${version.version} in force`
                        : 'Another version was put in force'
                    }
                  />{' '}
                  while you were editing.
                </span>
                <Button size="small" onClick={() => setAsking('overtaken')}>
                  Review
                </Button>
              </div>
            ) : null}
            <CodeEditor
              key={`${name} ${base?.etag}`}
              label={`Policy ${name}`}
              language="yaml"
              value={draft?.text ?? kept.text}
              onChange={edit}
              read_only={!admin.ok}
              mistakes={mistakes}
              onSave={() => ready.ok && setAsking('save')}
            />
            {mistakes.map(({ line, message }) => (
              <div key={`${line} ${message}`} className="problem" role="alert">
                Line {line}: {message}
              </div>
            ))}
          </div>
          <WhatIf draft={draft?.text ?? kept.text} changed={dirty} wrong={mistakes.length > 0} />
        </div>
      )}
      {asking === 'save' && draft ? (
        <FormDialog
          title={`Save a new version of ${name}`}
          action="Put in force"
          width={760}
          onClose={() => setAsking(null)}
          onSubmit={save}
        >
          <p>
            It is in force at once for calls that are submitted from now on; calls that wait are decided again before
            they run.
          </p>
          <MergeView label="Changes" language="yaml" before={draft.base.text} after={draft.text} />
        </FormDialog>
      ) : null}
      {asking === 'overtaken' && draft && kept ? (
        <FormDialog
          title="Changed while you were editing"
          action="Continue with my draft"
          width={760}
          onClose={() => setAsking(null)}
          onSubmit={async () => setDraft({ ...draft, base: kept })}
        >
          <p>
            This is what the version in force changed. Your draft does not contain it: copy what is needed into the
            draft before you save, or discard the draft.
          </p>
          <MergeView label="Changes of others" language="yaml" before={draft.base.text} after={kept.text} />
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

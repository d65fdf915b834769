import { isObject } from '@capstan/contracts/is-object';
import { Bookmark, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { Search } from '../../app/search.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { TextField } from '../../ui/field.js';
import { Menu } from '../../ui/menu.js';
import { FACETS, isFiltered } from './filter.js';

type View = { name: string; search: Search };
type Props = { search: Search; change(change: Search): void };

const KEY = 'capstan-views';
const GIVEN: readonly View[] = [
  { name: 'Failed, last 24 hours', search: { status: 'failed,timed_out,ambiguous', since: '24h' } },
  { name: 'To resolve', search: { status: 'ambiguous' } },
  { name: 'In progress', search: { status: 'queued,running' } },
  { name: 'Denied, last 24 hours', search: { status: 'denied', since: '24h' } },
];
const NOTHING: Search = Object.fromEntries(FACETS.map((name) => [name, undefined]));

const isView = (value: unknown): value is View =>
  isObject(value) && typeof value.name === 'string' && isObject(value.search);

const read = (): View[] => {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isView) : [];
  } catch {
    return [];
  }
};

/** A view is a URL. Named views are stored in this browser. */
export function SavedViews({ search, change }: Props) {
  const [views, setViews] = useState(read);
  const [naming, setNaming] = useState(false);
  const [name, setName] = useState('');
  const keep = (next: View[]) => {
    localStorage.setItem(KEY, JSON.stringify(next));
    setViews(next);
  };
  const save = () => {
    if (name.trim() === '') return;
    const kept = Object.fromEntries(FACETS.flatMap((facet) => (search[facet] ? [[facet, search[facet]]] : [])));
    keep([...views.filter((view) => view.name !== name), { name, search: kept }]);
    setNaming(false);
    setName('');
  };
  const show = (view: View) => ({
    label: view.name,
    icon: <Bookmark />,
    onSelect: () => change({ ...NOTHING, ...view.search }),
  });
  return (
    <>
      <Menu
        trigger={
          <button type="button" className="button ghost">
            <Bookmark />
            Views
          </button>
        }
        items={[
          ...GIVEN.map(show),
          ...(views.length > 0 ? (['line'] as const) : []),
          ...views.map(show),
          'line',
          {
            label: 'Save this view',
            icon: <Plus />,
            may: { ok: isFiltered(search), why: 'Filter the list first.' },
            onSelect: () => setNaming(true),
          },
          ...views.map((view) => ({
            label: `Forget ${view.name}`,
            icon: <Trash2 />,
            onSelect: () => keep(views.filter((other) => other !== view)),
          })),
        ]}
      />
      {naming ? (
        <Dialog
          title="Save this view"
          onClose={() => setNaming(false)}
          onSubmit={save}
          footer={
            <>
              <Button onClick={() => setNaming(false)}>Cancel</Button>
              <Button kind="primary" submit>
                Save
              </Button>
            </>
          }
        >
          <TextField
            label="Name"
            value={name}
            onChange={setName}
            hint="It is saved in this browser. To share it, share its address."
            autoFocus
          />
        </Dialog>
      ) : null}
    </>
  );
}

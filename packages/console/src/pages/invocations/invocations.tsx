import type { Invocation } from '@capstan/contracts';
import { useNavigate } from '@tanstack/react-router';
import { ArrowUp, ScrollText } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import { useCursorList } from '../../api/cursor-list.js';
import { useInvocationCounts } from '../../api/invocations.js';
import { useKeys } from '../../app/keys.js';
import { useLiveEvents } from '../../app/live.js';
import { useSearchState } from '../../app/search.js';
import { Button } from '../../ui/button.js';
import { DataTable, type TableHandle } from '../../ui/data-table.js';
import { EmptyState, ErrorState, Loading } from '../../ui/empty.js';
import { useNarrow } from '../../ui/narrow.js';
import { Page } from '../../ui/page.js';
import { BulkActions } from './bulk-actions.js';
import { apiFilter, isFiltered } from './filter.js';
import { invocationColumns } from './invocation-columns.js';
import { InvocationFacets } from './invocation-facets.js';
import { SavedViews } from './saved-views.js';
import './invocations.css';

const idOf = ({ invocation_id }: Invocation): string => invocation_id;

export function Invocations() {
  const [search, change] = useSearchState();
  const navigate = useNavigate();
  const narrow = useNarrow();
  const table = useRef<TableHandle>(null);
  const [active, setActive] = useState(0);
  const [news, setNews] = useState(false);
  const filter = useMemo(() => apiFilter(search), [search]);
  const list = useCursorList<Invocation>({ name: 'invocations', path: '/v1/invocations', filter, idOf });
  const counts = useInvocationCounts(filter);
  const columns = useMemo(() => invocationColumns(narrow), [narrow]);

  // The list updates by itself only at the top. Further down it would move while it is being read.
  useLiveEvents((events) => {
    const changed = new Map(events.flatMap(({ type, id, status }) => (type === 'invocation' ? [[id, status]] : [])));
    if (changed.size === 0) return;
    list.patch((row) => {
      const status = changed.get(row.invocation_id);
      return status ? { ...row, status: status as Invocation['status'] } : row;
    });
    if (active === 0) list.refresh();
    else setNews(true);
  });

  const open = ({ invocation_id }: Invocation) =>
    void navigate({ to: '/invocations/$id', params: { id: invocation_id } });
  const move = (by: number) => {
    const next = Math.max(0, Math.min(list.items.length - 1, active + by));
    setActive(next);
    table.current?.scrollTo(next);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      const row = list.items[active];
      if (row) open(row);
    },
  });
  const toTop = () => {
    setActive(0);
    setNews(false);
    list.refresh();
    table.current?.scrollToTop();
  };

  return (
    <Page
      title="Invocations"
      beside={
        counts ? (
          <span className="muted num">
            {counts.total.toLocaleString()}
            {counts.capped ? '+' : ''}
          </span>
        ) : null
      }
      actions={
        <>
          <SavedViews search={search} change={change} />
          <BulkActions filter={filter} counts={counts} filtered={isFiltered(search)} />
        </>
      }
      flush
    >
      <InvocationFacets search={search} change={change} counts={counts} />
      {list.error ? (
        <ErrorState error={list.error} retry={list.refresh} />
      ) : list.is_first ? (
        <div className="page-body">
          <Loading lines={10} />
        </div>
      ) : (
        <div className="list-frame">
          {news ? (
            <div className="news">
              <Button size="small" icon={<ArrowUp />} onClick={toTop}>
                New invocations
              </Button>
            </div>
          ) : null}
          <DataTable
            ref={table}
            label="Invocations"
            of={filter}
            rows={list.items}
            columns={columns}
            idOf={idOf}
            row_height={narrow ? 64 : 36}
            active={active}
            onActive={setActive}
            onOpen={open}
            onEnd={list.more}
            footer={list.has_more ? 'Loading more' : list.items.length > 0 ? 'End of the list.' : null}
            empty={
              <EmptyState icon={<ScrollText />} title={isFiltered(search) ? 'Nothing matches' : 'No invocations yet'}>
                {isFiltered(search) ? (
                  <p>Remove a filter to see more.</p>
                ) : (
                  <p>
                    Submit one: <code>capstan invoke cap:test_math:add '{'{"a":2,"b":3}'}'</code>
                  </p>
                )}
              </EmptyState>
            }
          />
        </div>
      )}
    </Page>
  );
}

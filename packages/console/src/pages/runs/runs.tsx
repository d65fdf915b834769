import type { Run } from '@capstan/contracts';
import { useNavigate } from '@tanstack/react-router';
import { GitCompareArrows, ListTree } from 'lucide-react';
import { useCallback, useMemo, useRef, useState } from 'react';
import { useCursorList } from '../../api/cursor-list.js';
import { RUN_STATUSES } from '../../api/runs.js';
import { useKeys } from '../../app/keys.js';
import { useLiveEvents } from '../../app/live.js';
import { useSearchState } from '../../app/search.js';
import { Button } from '../../ui/button.js';
import { DataTable, type TableHandle } from '../../ui/data-table.js';
import { EmptyState, ErrorState, Loading } from '../../ui/empty.js';
import { FacetBar, FacetSelect, FacetText } from '../../ui/facets.js';
import { useNarrow } from '../../ui/narrow.js';
import { Page } from '../../ui/page.js';
import { SPANS } from '../invocations/filter.js';
import { runColumns } from './run-columns.js';

const idOf = ({ run_id }: Run): string => run_id;

export function Runs() {
  const [search, change] = useSearchState();
  const navigate = useNavigate();
  const narrow = useNarrow();
  const table = useRef<TableHandle>(null);
  const [active, setActive] = useState(0);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const { kind = 'plan,bulk', status, name, actor, since } = search;
  const filter = useMemo(() => {
    const span = since ? SPANS[since] : undefined;
    return {
      kind: kind === 'any' ? undefined : kind.split(','),
      status,
      name,
      actor,
      since: span ? new Date(Math.floor((Date.now() - span) / 60_000) * 60_000).toISOString() : undefined,
    };
  }, [kind, status, name, actor, since]);
  const list = useCursorList<Run>({ name: 'runs', path: '/v1/runs', filter, idOf, page_size: 100 });
  useLiveEvents((events) => {
    if (events.some(({ type }) => type === 'run')) list.refresh();
  });
  // At most two can be selected. A third replaces the one selected first.
  const choose = useCallback(
    (id: string) =>
      setChosen((before) => (before.includes(id) ? before.filter((each) => each !== id) : [...before, id].slice(-2))),
    [],
  );
  const columns = useMemo(() => runColumns({ narrow, chosen, choose }), [narrow, chosen, choose]);
  const open = ({ run_id }: Run) => void navigate({ to: '/runs/$id', params: { id: run_id } });
  const move = (by: number) => {
    const next = Math.max(0, Math.min(list.items.length - 1, active + by));
    setActive(next);
    table.current?.scrollTo(next);
  };
  const current = list.items[active];
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    x: () => current && choose(current.run_id),
    Enter: () => current && open(current),
  });
  return (
    <Page
      title="Runs"
      actions={
        <Button
          icon={<GitCompareArrows />}
          may={{ ok: chosen.length === 2, why: 'Select two runs to compare them.' }}
          onClick={() => void navigate({ to: '/compare', search: { a: chosen[0], b: chosen[1] } })}
        >
          Compare
        </Button>
      }
      flush
    >
      <FacetBar>
        <FacetSelect
          label="Kind"
          value={kind}
          options={['plan,bulk', 'plan', 'bulk', 'any']}
          words={{ 'plan,bulk': 'Plans and bulks', plan: 'Plans', bulk: 'Bulks', any: 'All, with lone calls' }}
          onChange={(value) => change({ kind: value })}
          always
        />
        <FacetSelect
          label="Status"
          value={status}
          options={RUN_STATUSES}
          onChange={(value) => change({ status: value })}
        />
        <FacetText label="Name" value={name} onChange={(value) => change({ name: value })} />
        <FacetText label="Actor" value={actor} onChange={(value) => change({ actor: value })} />
        <FacetSelect
          label="Time"
          value={since}
          options={['1h', '24h', '7d', '30d']}
          words={{ '1h': 'Last hour', '24h': 'Last 24 hours', '7d': 'Last 7 days', '30d': 'Last 30 days' }}
          onChange={(value) => change({ since: value })}
        />
      </FacetBar>
      {list.error ? (
        <ErrorState error={list.error} retry={list.refresh} />
      ) : list.is_first ? (
        <div className="page-body">
          <Loading lines={8} />
        </div>
      ) : (
        <DataTable
          ref={table}
          label="Runs"
          of={filter}
          rows={list.items}
          columns={columns}
          idOf={idOf}
          row_height={narrow ? 64 : 38}
          active={active}
          onActive={setActive}
          onOpen={open}
          onEnd={list.more}
          isSelected={({ run_id }) => chosen.includes(run_id)}
          empty={
            <EmptyState icon={<ListTree />} title="No runs">
              <p>
                Run a plan with <code>capstan run plan.yaml</code>, or submit many calls at once.
              </p>
            </EmptyState>
          }
        />
      )}
    </Page>
  );
}

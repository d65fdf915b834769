import type { HoldItem, Page as PageOf } from '@capstan/contracts';
import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Inbox } from 'lucide-react';
import { useCallback, useMemo, useRef, useState } from 'react';
import { holdsQuery } from '../../api/holds.js';
import { useKeys } from '../../app/keys.js';
import { useSearchState } from '../../app/search.js';
import { Button } from '../../ui/button.js';
import { DataTable, type TableHandle } from '../../ui/data-table.js';
import { EmptyState, ErrorState, Loading } from '../../ui/empty.js';
import { FacetBar, FacetSelect } from '../../ui/facets.js';
import { useNarrow } from '../../ui/narrow.js';
import { Page } from '../../ui/page.js';
import { type Bulk, BulkDialog } from './bulk-dialog.js';
import { ApproveDialog, RejectDialog } from './decide-dialogs.js';
import { inboxColumns } from './inbox-columns.js';
import { NotifyButton } from './notify-button.js';
import './approvals.css';

const FILTERS = ['risk', 'tool_id', 'rule', 'actor', 'run_id'] as const;
type Asking = { kind: 'approve' | 'reject'; hold: HoldItem } | { kind: 'bulk'; bulk: Bulk };

/** All pending holds, and the actions on them. */
export function Approvals() {
  const [search, change] = useSearchState();
  const navigate = useNavigate();
  const narrow = useNarrow();
  const table = useRef<TableHandle>(null);
  const [active, setActive] = useState(0);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [asking, setAsking] = useState<Asking | null>(null);
  const filter = useMemo(() => Object.fromEntries(FILTERS.map((name) => [name, search[name]])), [search]);
  const is_filtered = Object.values(filter).some(Boolean);
  const list = useInfiniteQuery(holdsQuery({ ...filter, sort: search.sort ?? 'expires_at' }));
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const { data: all } = useInfiniteQuery(holdsQuery({ sort: search.sort ?? 'expires_at' }));
  const holds = useMemo(() => itemsOf(data), [data]);
  const others = useMemo(() => itemsOf(all), [all]);
  const at = Math.min(active, Math.max(0, holds.length - 1));
  const current = holds[at];
  const chosen = holds.filter(({ hold_id }) => selected.has(hold_id));

  const open = (hold: HoldItem, editing = false) =>
    void navigate({ to: '/approvals/$id', params: { id: hold.hold_id }, search: editing ? { edit: 'yes' } : {} });
  const move = (by: number) => {
    const next = Math.max(0, Math.min(holds.length - 1, at + by));
    setActive(next);
    table.current?.scrollTo(next);
  };
  const toggle = useCallback(
    (id: string) =>
      setSelected((before) => {
        const next = new Set(before);
        if (!next.delete(id)) next.add(id);
        return next;
      }),
    [],
  );
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  /** Everything that matches, however far the list is loaded. */
  const selectAll = async () => {
    let loaded = { data, hasNextPage };
    while (loaded.hasNextPage) {
      const next = await fetchNextPage({ cancelRefetch: false });
      if (next.isError) return;
      loaded = next;
    }
    setSelected(new Set(itemsOf(loaded.data).map(({ hold_id }) => hold_id)));
  };
  const bulk = (decision: Bulk['decision'], of: readonly HoldItem[]) =>
    setAsking({ kind: 'bulk', bulk: { decision, holds: of } });
  const decide = (kind: 'approve' | 'reject') => {
    if (chosen.length > 0) bulk(kind === 'approve' ? 'release' : 'reject', chosen);
    else if (current) setAsking({ kind, hold: current });
  };

  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Enter: () => current && open(current),
    o: () => current && open(current),
    a: () => decide('approve'),
    r: () => decide('reject'),
    e: () => current && open(current, true),
    x: () => current && toggle(current.hold_id),
    '*': () => void selectAll(),
    Escape: () => setSelected(new Set()),
  });

  const columns = useMemo(
    () => inboxColumns({ narrow, selected, toggle, ask: (kind, hold) => setAsking({ kind, hold }) }),
    [narrow, selected, toggle],
  );

  return (
    <Page
      title="Approvals"
      beside={
        data ? (
          <span className="muted num">
            {holds.length}
            {hasNextPage ? '+' : ''} waiting
          </span>
        ) : null
      }
      actions={<NotifyButton />}
      flush
    >
      <FacetBar>
        <FacetSelect
          label="Risk"
          value={search.risk}
          options={['CRITICAL', 'HIGH', 'MED', 'LOW']}
          onChange={(risk) => change({ risk })}
        />
        <FacetSelect
          label="Tool"
          value={search.tool_id}
          options={distinct(others, ({ tool_id }) => [tool_id])}
          onChange={(tool_id) => change({ tool_id })}
        />
        <FacetSelect
          label="Rule"
          value={search.rule}
          options={distinct(others, ({ rule_matched }) => (rule_matched ? [rule_matched] : []))}
          onChange={(rule) => change({ rule })}
        />
        <FacetSelect
          label="Submitted by"
          value={search.actor}
          options={distinct(others, ({ actor }) => [actor])}
          onChange={(actor) => change({ actor })}
        />
        <FacetSelect
          label="Sort"
          value={search.sort ?? 'expires_at'}
          options={['expires_at', 'created_at']}
          words={{ expires_at: 'Expires first', created_at: 'Newest first' }}
          onChange={(sort) => change({ sort })}
          always
        />
        {is_filtered ? (
          <>
            <Button
              kind="ghost"
              size="small"
              onClick={() => change(Object.fromEntries(FILTERS.map((name) => [name, undefined])))}
            >
              Clear
            </Button>
            <Button size="small" onClick={() => void selectAll()}>
              Select all {hasNextPage ? 'that match' : holds.length}
            </Button>
          </>
        ) : null}
      </FacetBar>
      {error && !data ? (
        <ErrorState error={error} retry={() => void refetch()} />
      ) : data ? (
        <DataTable
          ref={table}
          label="Waiting for a decision"
          of={filter}
          rows={holds}
          columns={columns}
          idOf={({ hold_id }) => hold_id}
          row_height={narrow ? 122 : 58}
          active={at}
          onActive={setActive}
          onOpen={open}
          onEnd={more}
          isSelected={({ hold_id }) => selected.has(hold_id)}
          empty={
            <EmptyState icon={<Inbox />} title={is_filtered ? 'No waiting call matches' : 'No calls are waiting'}>
              <p>
                {is_filtered
                  ? 'Clear the filters to see all waiting calls.'
                  : 'Calls that policy holds appear here as soon as they are submitted.'}
              </p>
            </EmptyState>
          }
        />
      ) : (
        <div className="page-body">
          <Loading lines={8} />
        </div>
      )}
      {chosen.length > 0 ? (
        <div className="bulk-bar" role="toolbar" aria-label="Selected approvals">
          <strong className="num">{chosen.length} selected</strong>
          <Button kind="primary" keys="a" onClick={() => bulk('release', chosen)}>
            Approve
          </Button>
          <Button kind="danger" keys="r" onClick={() => bulk('reject', chosen)}>
            Reject
          </Button>
          <Button kind="ghost" keys="Esc" onClick={() => setSelected(new Set())}>
            Clear
          </Button>
        </div>
      ) : null}
      {asking?.kind === 'approve' ? <ApproveDialog hold={asking.hold} onClose={() => setAsking(null)} /> : null}
      {asking?.kind === 'reject' ? <RejectDialog hold={asking.hold} onClose={() => setAsking(null)} /> : null}
      {asking?.kind === 'bulk' ? (
        <BulkDialog
          bulk={asking.bulk}
          onClose={() => setAsking(null)}
          onDone={() => {
            setAsking(null);
            setSelected(new Set());
          }}
        />
      ) : null}
    </Page>
  );
}

const distinct = (holds: readonly HoldItem[], of: (hold: HoldItem) => string[]): string[] =>
  [...new Set(holds.flatMap(of))].sort();

/** A hold may have moved to another page between two requests. */
function itemsOf(data: InfiniteData<PageOf<HoldItem>> | undefined): HoldItem[] {
  const items = (data?.pages ?? []).flatMap((page) => page.items);
  return [...new Map(items.map((hold) => [hold.hold_id, hold])).values()];
}

import type { HoldItem } from '@capstan/contracts';
import { useNavigate } from '@tanstack/react-router';
import { Inbox } from 'lucide-react';
import { useCallback, useMemo, useRef, useState } from 'react';
import { useKeys } from '../../app/keys.js';
import { useSearchState } from '../../app/search.js';
import { Button } from '../../ui/button.js';
import { DataTable, type TableHandle } from '../../ui/data-table.js';
import { EmptyState, ErrorState, Loading } from '../../ui/empty.js';
import { useNarrow } from '../../ui/narrow.js';
import { Page } from '../../ui/page.js';
import { type Bulk, BulkDialog } from './bulk-dialog.js';
import { ApproveDialog, RejectDialog } from './decide-dialogs.js';
import { inboxColumns } from './inbox-columns.js';
import { InboxFacets } from './inbox-facets.js';
import { NotifyButton } from './notify-button.js';
import { useInbox } from './use-inbox.js';
import './approvals.css';

type Asking = { kind: 'approve'; hold: HoldItem } | { kind: 'reject'; hold: HoldItem } | { kind: 'bulk'; bulk: Bulk };

/** All pending holds, and the actions on them. */
export function Approvals() {
  const [search, change] = useSearchState();
  const navigate = useNavigate();
  const narrow = useNarrow();
  const table = useRef<TableHandle>(null);
  const [active, setActive] = useState(0);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [asking, setAsking] = useState<Asking | null>(null);
  const { filter, holds, others, data, error, refetch, has_more, more, loadAll } = useInbox(search);
  const is_filtered = Object.values(filter).some(Boolean);
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
  const clear = () => setSelected(new Set());
  const toggle = useCallback(
    (id: string) =>
      setSelected((before) => {
        const next = new Set(before);
        if (!next.delete(id)) next.add(id);
        return next;
      }),
    [],
  );
  const selectAll = async () => {
    const every = await loadAll();
    if (every) setSelected(new Set(every.map(({ hold_id }) => hold_id)));
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
    Escape: clear,
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
            {has_more ? '+' : ''} waiting
          </span>
        ) : null
      }
      actions={<NotifyButton />}
      flush
    >
      <InboxFacets
        search={search}
        change={change}
        among={others}
        select_all={is_filtered ? `Select all ${has_more ? 'that match' : holds.length}` : null}
        onSelectAll={() => void selectAll()}
      />
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
      <SelectionBar count={chosen.length} onDecide={(decision) => bulk(decision, chosen)} onClear={clear} />
      <DecisionDialog asking={asking} onClose={() => setAsking(null)} onDecided={clear} />
    </Page>
  );
}

type SelectionProps = { count: number; onDecide(decision: Bulk['decision']): void; onClear(): void };

function SelectionBar({ count, onDecide, onClear }: SelectionProps) {
  if (count === 0) return null;
  return (
    <div className="bulk-bar" role="toolbar" aria-label="Selected approvals">
      <strong className="num">{count} selected</strong>
      <Button kind="primary" keys="a" onClick={() => onDecide('release')}>
        Approve
      </Button>
      <Button kind="danger" keys="r" onClick={() => onDecide('reject')}>
        Reject
      </Button>
      <Button kind="ghost" keys="Esc" onClick={onClear}>
        Clear
      </Button>
    </div>
  );
}

type DecisionProps = { asking: Asking | null; onClose(): void; onDecided(): void };

function DecisionDialog({ asking, onClose, onDecided }: DecisionProps) {
  if (asking === null) return null;
  if (asking.kind === 'approve') return <ApproveDialog hold={asking.hold} onClose={onClose} />;
  if (asking.kind === 'reject') return <RejectDialog hold={asking.hold} onClose={onClose} />;
  const done = () => {
    onClose();
    onDecided();
  };
  return <BulkDialog bulk={asking.bulk} onClose={onClose} onDone={done} />;
}

import type { AuditEntry, AuditVerification } from '@capstan/contracts';
import { BadgeCheck, FileText } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useCursorList } from '../../api/cursor-list.js';
import { useMay } from '../../api/me.js';
import { get } from '../../api/request.js';
import { useSearchState } from '../../app/search.js';
import { Button } from '../../ui/button.js';
import { type Column, DataTable } from '../../ui/data-table.js';
import { Dialog } from '../../ui/dialog.js';
import { EmptyState, ErrorState, Loading } from '../../ui/empty.js';
import { FacetBar, FacetSelect, FacetText } from '../../ui/facets.js';
import { Id } from '../../ui/id.js';
import { JsonView } from '../../ui/json-view.js';
import { useNarrow } from '../../ui/narrow.js';
import { Page } from '../../ui/page.js';
import { Facts } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { exactTime, Time } from '../../ui/time.js';
import { useToast } from '../../ui/toast.js';
import { SPANS } from '../invocations/filter.js';

const idOf = ({ seq }: AuditEntry): string => seq;
const isId = (subject: string): boolean => /^(inv|run|hld)_/.test(subject);

const COLUMNS: Column<AuditEntry>[] = [
  { id: 'at', header: 'When', width: '72px', cell: ({ at }) => <Time at={at} /> },
  {
    id: 'event',
    header: 'Event',
    width: 'minmax(0, 1fr)',
    cell: ({ event }) => (
      <strong>
        <SafeText text={event} />
      </strong>
    ),
  },
  { id: 'actor', header: 'Actor', width: 'minmax(88px, 0.5fr)', cell: ({ actor }) => <SafeText text={actor} /> },
  {
    id: 'subject',
    header: 'Subject',
    width: 'minmax(0, 1fr)',
    wide: true,
    cell: ({ subject }) => (isId(subject) ? <Id of={subject} /> : <SafeText text={subject} />),
  },
  {
    id: 'detail',
    header: 'Detail',
    width: 'minmax(0, 2fr)',
    wide: true,
    cell: ({ detail }) => (
      <code className="muted">
        <SafeText text={JSON.stringify(detail).slice(0, 300)} />
      </code>
    ),
  },
];

export function Audit() {
  const [{ event, actor, subject, since }, change] = useSearchState();
  const narrow = useNarrow();
  const may = useMay('audit', 'admin');
  const say = useToast();
  const [open, setOpen] = useState<AuditEntry | null>(null);
  const [busy, setBusy] = useState(false);
  const filter = useMemo(() => {
    const span = since ? SPANS[since] : undefined;
    return { event, actor, subject, since: span ? new Date(Date.now() - span).toISOString() : undefined };
  }, [event, actor, subject, since]);
  const list = useCursorList<AuditEntry>({ name: 'audit', path: '/v1/audit', filter, idOf });
  const verify = async () => {
    setBusy(true);
    try {
      const { ok, checked, mismatches } = await get<AuditVerification>('/v1/audit/verify');
      if (ok) say(`All ${checked.toLocaleString()} entries are unchanged`);
      else
        say.problem(
          'The audit was tampered with',
          new Error(mismatches.map(({ row, why }) => `${row}: ${why}`).join('; ')),
        );
    } catch (error) {
      say.problem('It could not be verified', error);
    }
    setBusy(false);
  };
  return (
    <Page
      title="Audit"
      actions={
        <Button icon={<BadgeCheck />} may={may} busy={busy} onClick={() => void verify()}>
          Verify
        </Button>
      }
      flush
    >
      <FacetBar>
        <FacetText label="Event" value={event} placeholder="hold.*" onChange={(value) => change({ event: value })} />
        <FacetText label="Actor" value={actor} onChange={(value) => change({ actor: value })} />
        <FacetText
          label="Subject"
          value={subject}
          placeholder="inv_…"
          onChange={(value) => change({ subject: value })}
        />
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
          <Loading />
        </div>
      ) : (
        <DataTable
          label="Audit"
          of={filter}
          rows={list.items}
          columns={COLUMNS}
          idOf={idOf}
          row_height={narrow ? 44 : 34}
          onOpen={(entry) => setOpen(entry)}
          onEnd={list.more}
          empty={
            <EmptyState icon={<FileText />} title="Nothing matches">
              <p>Every change that people make is recorded here, in a hash chain that reveals tampering.</p>
            </EmptyState>
          }
        />
      )}
      {open ? (
        <Dialog title={open.event} onClose={() => setOpen(null)} width={600}>
          <Facts
            of={[
              ['When', exactTime(open.at)],
              ['Actor', <SafeText key="actor" text={open.actor} />],
              [
                'Subject',
                isId(open.subject) ? (
                  <Id key="subject" of={open.subject} />
                ) : (
                  <SafeText key="subject" text={open.subject} />
                ),
              ],
              ['Entry', open.seq],
              ['Link', open.chain_hash && <Id key="hash" of={open.chain_hash} link={false} />],
            ]}
          />
          <JsonView label="Detail" value={open.detail} depth={4} />
        </Dialog>
      ) : null}
    </Page>
  );
}

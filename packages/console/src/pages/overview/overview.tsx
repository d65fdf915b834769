import { HOUR_MS } from '@capstan/contracts/time';
import { useQuery } from '@tanstack/react-query';
import { nowQuery, statsQuery } from '../../api/stats.js';
import { useSearchState } from '../../app/search.js';
import { ErrorState, Loading } from '../../ui/empty.js';
import { Page } from '../../ui/page.js';
import { Segmented } from '../../ui/tabs.js';
import { Attention } from './attention.js';
import { Charts } from './charts.js';
import { LatestFailures } from './latest-failures.js';
import { Numbers } from './numbers.js';
import { RunnerTable } from './runner-table.js';
import './overview.css';

const SPANS = { '1h': HOUR_MS, '6h': 6 * HOUR_MS, '24h': 24 * HOUR_MS, '7d': 168 * HOUR_MS } as const;
type Span = keyof typeof SPANS;

/** Shows whether anything is wrong, and where to look. */
export function Overview() {
  const [search, change] = useSearchState();
  const span = (search.span && search.span in SPANS ? search.span : '1h') as Span;
  const now = useQuery(nowQuery);
  const stats = useQuery(statsQuery(SPANS[span], 'runner'));
  return (
    <Page
      title="Overview"
      actions={
        <Segmented<Span>
          label="Time"
          value={span}
          onChange={(name) => change({ span: name })}
          options={[
            { name: '1h', label: '1 hour' },
            { name: '6h', label: '6 hours' },
            { name: '24h', label: '24 hours' },
            { name: '7d', label: '7 days' },
          ]}
        />
      }
    >
      {now.error && !now.data ? (
        <ErrorState error={now.error} retry={() => void now.refetch()} />
      ) : !now.data || !stats.data ? (
        <Loading lines={8} />
      ) : (
        <div className="stack wide sections">
          <Attention now={now.data} />
          <Numbers now={now.data} stats={stats.data} />
          <Charts stats={stats.data} span_ms={SPANS[span]} />
          <div className="grid-2">
            <RunnerTable now={now.data} stats={stats.data} />
            <LatestFailures />
          </div>
        </div>
      )}
    </Page>
  );
}

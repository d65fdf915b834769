import { type InvocationCounts, STATUSES } from '../../api/invocations.js';
import type { Search } from '../../app/search.js';
import { RUNNERS } from '../../domain/runners.js';
import { Button } from '../../ui/button.js';
import { FacetBar, FacetSelect, FacetText, SearchBox } from '../../ui/facets.js';
import { FACETS, isFiltered } from './filter.js';

type Props = { search: Search; change(change: Search): void; counts: InvocationCounts | undefined };

export const InvocationFacets = ({ search, change, counts }: Props) => (
  <FacetBar>
    <SearchBox
      placeholder="Id, tool, actor, label or error"
      value={search.q ?? ''}
      onChange={(q) => change({ q: q || undefined })}
    />
    <FacetSelect
      label="Status"
      value={search.status}
      options={STATUSES}
      words={{ 'failed,timed_out,ambiguous': 'Went wrong' }}
      counts={counts?.status}
      onChange={(status) => change({ status })}
    />
    <FacetSelect
      label="Runner"
      value={search.runner}
      options={RUNNERS}
      words={Object.fromEntries(RUNNERS.map((name) => [name, name]))}
      counts={counts?.runner}
      onChange={(runner) => change({ runner })}
    />
    <FacetText
      label="Tool"
      value={search.tool_id}
      known={counts?.tool_id}
      onChange={(tool_id) => change({ tool_id })}
    />
    <FacetText label="Actor" value={search.actor} known={counts?.actor} onChange={(actor) => change({ actor })} />
    <FacetText label="Label" value={search.label} placeholder="key:value" onChange={(label) => change({ label })} />
    <FacetSelect
      label="Time"
      value={search.since}
      options={['1h', '24h', '7d', '30d']}
      words={{ '1h': 'Last hour', '24h': 'Last 24 hours', '7d': 'Last 7 days', '30d': 'Last 30 days' }}
      onChange={(since) => change({ since })}
    />
    {search.run_id ? <FacetText label="Run" value={search.run_id} onChange={(run_id) => change({ run_id })} /> : null}
    {search.session_id ? (
      <FacetText label="Session" value={search.session_id} onChange={(session_id) => change({ session_id })} />
    ) : null}
    {isFiltered(search) ? (
      <Button
        kind="ghost"
        size="small"
        onClick={() => change(Object.fromEntries(FACETS.map((name) => [name, undefined])))}
      >
        Clear
      </Button>
    ) : null}
  </FacetBar>
);

import type { HoldItem } from '@capstan/contracts';
import type { Search } from '../../app/search.js';
import { Button } from '../../ui/button.js';
import { FacetBar, FacetSelect } from '../../ui/facets.js';

export const FILTERS = ['risk', 'tool_id', 'rule', 'actor', 'run_id'] as const;

type Props = {
  search: Search;
  change(changes: Search): void;
  /** The holds whose values can be chosen. */
  among: readonly HoldItem[];
  /** The label of the button that selects all matches; null without a filter. */
  select_all: string | null;
  onSelectAll(): void;
};

/** The filters and the order of the inbox. */
export function InboxFacets({ search, change, among, select_all, onSelectAll }: Props) {
  return (
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
        options={distinct(among, ({ tool_id }) => [tool_id])}
        onChange={(tool_id) => change({ tool_id })}
      />
      <FacetSelect
        label="Rule"
        value={search.rule}
        options={distinct(among, ({ rule_matched }) => (rule_matched ? [rule_matched] : []))}
        onChange={(rule) => change({ rule })}
      />
      <FacetSelect
        label="Submitted by"
        value={search.actor}
        options={distinct(among, ({ actor }) => [actor])}
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
      {select_all === null ? null : (
        <>
          <Button
            kind="ghost"
            size="small"
            onClick={() => change(Object.fromEntries(FILTERS.map((name) => [name, undefined])))}
          >
            Clear
          </Button>
          <Button size="small" onClick={onSelectAll}>
            {select_all}
          </Button>
        </>
      )}
    </FacetBar>
  );
}

const distinct = (holds: readonly HoldItem[], of: (hold: HoldItem) => string[]): string[] =>
  [...new Set(holds.flatMap(of))].sort();

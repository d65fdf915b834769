import type { Tool } from '@capstan/contracts';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { RefreshCw, Wrench } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import { useSend } from '../../api/lists.js';
import { useMay } from '../../api/me.js';
import { toolsQuery } from '../../api/tools.js';
import { useKeys } from '../../app/keys.js';
import { useSearchState } from '../../app/search.js';
import { RUNNERS } from '../../domain/runners.js';
import { RiskBadge, Tag } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { type Column, DataTable, type TableHandle } from '../../ui/data-table.js';
import { EmptyState } from '../../ui/empty.js';
import { FacetBar, FacetSelect, SearchBox } from '../../ui/facets.js';
import { ListBody } from '../../ui/list-body.js';
import { useNarrow } from '../../ui/narrow.js';
import { Page } from '../../ui/page.js';
import { SafeText } from '../../ui/safe-text.js';
import { Segmented } from '../../ui/tabs.js';
import { useToast } from '../../ui/toast.js';
import { AddSource } from './add-source.js';
import { Sources } from './sources.js';
import './tools.css';

const COLUMNS: Column<Tool>[] = [
  {
    id: 'tool',
    header: 'Tool',
    width: 'minmax(0, 1fr)',
    cell: ({ tool_id, description, enabled }) => (
      <div className="stack tight tool-cell">
        <div className="row">
          <strong className="truncate">
            <SafeText text={tool_id} />
          </strong>
          {enabled ? null : <Tag>Disabled</Tag>}
        </div>
        <span className="muted truncate">
          <SafeText text={description} />
        </span>
      </div>
    ),
  },
  { id: 'risk', header: 'Risk', width: '92px', cell: ({ risk }) => <RiskBadge risk={risk} /> },
  { id: 'runner', header: 'Runner', width: '70px', wide: true, cell: ({ runner }) => runner },
  { id: 'source', header: 'Source', width: '90px', wide: true, cell: ({ source }) => source },
  {
    id: 'origin',
    header: 'From',
    width: '140px',
    wide: true,
    cell: ({ origin }) => (
      <span className="muted">
        <SafeText text={origin} />
      </span>
    ),
  },
];

export function Tools() {
  const [search, change] = useSearchState();
  const navigate = useNavigate();
  const narrow = useNarrow();
  const say = useToast();
  const send = useSend('tools', 'tool', 'sources');
  const may = useMay('operate');
  const table = useRef<TableHandle>(null);
  const [active, setActive] = useState(0);
  const { q, runner, source, risk_max, view } = search;
  const of_sources = view === 'sources';
  const filter = useMemo(() => ({ q, runner, source, risk_max }), [q, runner, source, risk_max]);
  const tools = useQuery(toolsQuery(filter));
  const items = tools.data?.items ?? [];
  const open = ({ tool_id }: Tool) => void navigate({ to: '/tools/$id', params: { id: tool_id } });
  const move = (by: number) => {
    const next = Math.max(0, Math.min(items.length - 1, active + by));
    setActive(next);
    table.current?.scrollTo(next);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      const tool = items[active];
      if (tool) open(tool);
    },
  });
  const refresh = async () => {
    try {
      const { tools: count } = await send<{ tools: number }>('POST', '/v1/tools/refresh', {});
      say(`There are ${count} tools`);
    } catch (error) {
      say.problem('Some sources could not be refreshed', error);
    }
  };
  return (
    <Page
      title="Tools"
      beside={tools.data && !of_sources ? <span className="muted num">{items.length}</span> : null}
      actions={
        <>
          <Segmented<'tools' | 'sources'>
            label="View"
            value={of_sources ? 'sources' : 'tools'}
            onChange={(name) => change({ view: name === 'tools' ? undefined : name })}
            options={[
              { name: 'tools', label: 'Tools' },
              { name: 'sources', label: 'Sources' },
            ]}
          />
          <Button kind="ghost" icon={<RefreshCw />} may={may} onClick={() => void refresh()}>
            Refresh
          </Button>
          <AddSource />
        </>
      }
      flush
    >
      {of_sources ? (
        <Sources />
      ) : (
        <>
          <FacetBar>
            <SearchBox
              placeholder="Search tools"
              value={q ?? ''}
              onChange={(text) => change({ q: text || undefined })}
            />
            <FacetSelect
              label="Runner"
              value={runner}
              options={RUNNERS}
              words={Object.fromEntries(RUNNERS.map((name) => [name, name]))}
              onChange={(value) => change({ runner: value })}
            />
            <FacetSelect
              label="Source"
              value={source}
              options={['capability', 'extension', 'mcp', 'openapi', 'atip', 'app', 'core']}
              words={{ mcp: 'MCP server', openapi: 'OpenAPI', atip: 'ATIP', app: 'Your own', core: 'Capstan' }}
              onChange={(value) => change({ source: value })}
            />
            <FacetSelect
              label="Risk at most"
              value={risk_max}
              options={['LOW', 'MED', 'HIGH']}
              words={{ LOW: 'Low', MED: 'Medium', HIGH: 'High' }}
              onChange={(value) => change({ risk_max: value })}
            />
          </FacetBar>
          <ListBody of={tools}>
            {() => (
              <DataTable
                ref={table}
                label="Tools"
                of={filter}
                rows={items}
                columns={COLUMNS}
                idOf={({ tool_id }) => tool_id}
                row_height={narrow ? 60 : 54}
                active={active}
                onActive={setActive}
                onOpen={open}
                empty={
                  <EmptyState icon={<Wrench />} title="No tool matches">
                    <p>Search for other words, or add a source of tools.</p>
                  </EmptyState>
                }
              />
            )}
          </ListBody>
        </>
      )}
    </Page>
  );
}

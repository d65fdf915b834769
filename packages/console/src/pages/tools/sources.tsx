import type { InstalledAtipTool, InstalledExtension, InstalledOpenApi, McpServer } from '@capstan/contracts';
import { useQueries } from '@tanstack/react-query';
import { Power, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { listQuery, useSend } from '../../api/lists.js';
import { useMay } from '../../api/me.js';
import { Tag } from '../../ui/badge.js';
import { Button, IconButton } from '../../ui/button.js';
import { EmptyState, ErrorState, Loading } from '../../ui/empty.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { Panel } from '../../ui/panel.js';
import { SafeText } from '../../ui/safe-text.js';
import { useToast } from '../../ui/toast.js';

type Source = {
  path: string;
  name: string;
  kind: string;
  what: string;
  tools: number;
  /** Null if it cannot be switched off. */
  enabled: boolean | null;
  problem: string | null;
};

const at = (path: string, name: string): string => `${path}/${encodeURIComponent(name)}`;

const ofExtension = ({ extension_id, description, enabled, tools }: InstalledExtension): Source => ({
  path: at('/v1/extensions', extension_id),
  name: extension_id,
  kind: 'Extension',
  what: description,
  tools: tools.length,
  enabled,
  problem: null,
});
const ofMcpServer = ({ name, url, command, args, enabled, tools, status, last_error }: McpServer): Source => ({
  path: at('/v1/mcp-servers', name),
  name,
  kind: 'MCP server',
  what: url ?? [command ?? '', ...args].join(' '),
  tools,
  enabled,
  problem: status === 'failing' ? last_error : null,
});
const ofOpenApi = ({ name, title, base_url, tools }: InstalledOpenApi): Source => ({
  path: at('/v1/openapi', name),
  name,
  kind: 'OpenAPI',
  what: `${title}, ${base_url}`,
  tools: tools.length,
  enabled: null,
  problem: null,
});
const ofAtip = ({ name, description, tools }: InstalledAtipTool): Source => ({
  path: at('/v1/atip-tools', name),
  name,
  kind: 'ATIP',
  what: description,
  tools: tools.length,
  enabled: null,
  problem: null,
});

function useSources() {
  const [extensions, servers, openapis, atips] = useQueries({
    queries: [
      listQuery<InstalledExtension>('sources', '/v1/extensions'),
      listQuery<McpServer>('sources', '/v1/mcp-servers'),
      listQuery<InstalledOpenApi>('sources', '/v1/openapi'),
      listQuery<InstalledAtipTool>('sources', '/v1/atip-tools'),
    ],
  });
  const error = extensions.error ?? servers.error ?? openapis.error ?? atips.error;
  const sources =
    extensions.data && servers.data && openapis.data && atips.data
      ? [
          ...extensions.data.map(ofExtension),
          ...servers.data.map(ofMcpServer),
          ...openapis.data.map(ofOpenApi),
          ...atips.data.map(ofAtip),
        ]
      : undefined;
  return { sources, error };
}

type Asking = { source: Source; action: 'Enable' | 'Disable' | 'Remove' };

/** The sources of tools, those that are switched off too. */
export function Sources() {
  const { sources, error } = useSources();
  const admin = useMay('admin');
  const send = useSend('tools', 'tool', 'sources');
  const say = useToast();
  const [asking, setAsking] = useState<Asking | null>(null);
  if (error && !sources) return <ErrorState error={error} />;
  if (!sources) return <Loading lines={6} />;
  const act = async ({ source, action }: Asking) => {
    const turn = (enabled: boolean) => send('PATCH', source.path, { enabled });
    if (action === 'Remove') await send('DELETE', source.path);
    else await turn(action === 'Enable');
    const undo = action === 'Remove' ? undefined : () => turn(action !== 'Enable');
    say(`${source.name} is ${action.toLowerCase()}d`, undefined, undo);
  };
  return (
    <div className="page-body">
      <div className="wide">
        <Panel title="Sources" sub={String(sources.length)} flush>
          {sources.length === 0 ? (
            <EmptyState tight title="No source was added">
              <p>The tools that come with Capstan are always there.</p>
            </EmptyState>
          ) : (
            <div className="mini-table">
              {sources.map((source) => (
                <SourceRow
                  key={source.path}
                  source={source}
                  may={admin}
                  onAsk={(action) => setAsking({ source, action })}
                />
              ))}
            </div>
          )}
        </Panel>
      </div>
      {asking ? (
        <FormDialog
          title={`${asking.action} ${asking.source.name}`}
          action={asking.action}
          danger={asking.action !== 'Enable'}
          onClose={() => setAsking(null)}
          onSubmit={() => act(asking)}
        >
          <p>{CONSEQUENCES[asking.action](asking.source.tools)}</p>
        </FormDialog>
      ) : null}
    </div>
  );
}

const toolsOf = (count: number): string => (count === 1 ? 'Its tool' : `Its ${count.toLocaleString()} tools`);
const CONSEQUENCES: Record<Asking['action'], (tools: number) => string> = {
  Enable: () => 'Its tools can be called again, where policy allows it.',
  Disable: (tools) =>
    `${toolsOf(tools)} can no longer be called, and waiting calls are refused when their turn comes. You can enable it again.`,
  Remove: (tools) =>
    `${toolsOf(tools)} can no longer be called. What they did stays on record. The source can be added again.`,
};

type RowProps = { source: Source; may: ReturnType<typeof useMay>; onAsk(action: Asking['action']): void };

const SourceRow = ({ source: { name, kind, what, tools, enabled, problem }, may, onAsk }: RowProps) => (
  <div className="mini-row">
    <div className="grow stack tight source-what">
      <span className="row wrap">
        <strong>
          <SafeText text={name} />
        </strong>
        <Tag>{kind}</Tag>
        {enabled === false ? <Tag tone="amber">Disabled</Tag> : null}
        {problem === null ? null : <Tag tone="red">Failing</Tag>}
      </span>
      <span className="muted truncate">
        <SafeText text={problem ?? what} />
      </span>
    </div>
    <span className="muted num wide-only">
      {tools.toLocaleString()} {tools === 1 ? 'tool' : 'tools'}
    </span>
    {enabled === null ? null : (
      <Button
        size="small"
        icon={<Power />}
        may={may}
        aria-label={`${enabled ? 'Disable' : 'Enable'} ${name}`}
        onClick={() => onAsk(enabled ? 'Disable' : 'Enable')}
      >
        {enabled ? 'Disable' : 'Enable'}
      </Button>
    )}
    <IconButton icon={<Trash2 />} label={`Remove ${name}`} may={may} onClick={() => onAsk('Remove')} />
  </div>
);

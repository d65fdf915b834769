import type { Relay } from '@capstan/queue';
import { mcpResourceTopic } from '@capstan/store/mcp-session';
import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';
import { MCP_LISTS } from '../mcp-sources/discover.js';

/** Notifications for listening clients: the signals of all processes, as events of the protocol. */
export type McpNews = ServerEventBus & {
  /** Starts to publish changes of this resource. */
  watch(server: string, uri: string): void;
};

/** A limit, because clients leave without unsubscribing. */
const MAX_WATCHED = 10_000;

export function createMcpNews(relay: Relay): McpNews {
  const listeners = new Set<(event: ServerEvent) => void>();
  const watched = new Map<string, string>();
  const publish = (event: ServerEvent) => {
    for (const listener of [...listeners]) listener(event);
  };
  relay.subscribe('refresh', (what) => {
    if (what.includes('tools') || what.includes('policies')) publish({ kind: 'tools_list_changed' });
    if (what.includes(MCP_LISTS)) {
      publish({ kind: 'prompts_list_changed' });
      publish({ kind: 'resources_list_changed' });
    }
    for (const topic of what) {
      const uri = watched.get(topic);
      if (uri !== undefined) publish({ kind: 'resource_updated', uri });
    }
  });
  return {
    publish,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    watch: (server, uri) => {
      if (watched.size >= MAX_WATCHED) watched.clear();
      watched.set(mcpResourceTopic(server, uri), uri);
    },
  };
}

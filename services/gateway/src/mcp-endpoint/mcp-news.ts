import type { Relay } from '@capstan/queue';
import { isMcpResourceTopic, mcpResourceTopic } from '@capstan/store/mcp-session';
import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';
import { MCP_LISTS } from '../mcp-sources/discover.js';

/** Notifications for listening clients: the signals of all processes, as events of the protocol. */
export type McpNews = ServerEventBus & {
  /** Publishes changes of this resource as events until the returned function is called. */
  watch(server: string, uri: string): () => void;
  /** Passes on the topics of all resources that change. Returns how to stop. */
  onUpdated(hear: (topics: readonly string[]) => void): () => void;
};

export function createMcpNews(relay: Relay): McpNews {
  const listeners = new Set<(event: ServerEvent) => void>();
  const hearers = new Set<(topics: readonly string[]) => void>();
  /** By topic. */
  const watched = new Map<string, { uri: string; watchers: number }>();
  const publish = (event: ServerEvent) => {
    for (const listener of [...listeners]) listener(event);
  };
  relay.subscribe('refresh', (what) => {
    if (what.includes('tools') || what.includes('policies')) publish({ kind: 'tools_list_changed' });
    if (what.includes(MCP_LISTS)) {
      publish({ kind: 'prompts_list_changed' });
      publish({ kind: 'resources_list_changed' });
    }
    const updated = what.filter(isMcpResourceTopic);
    if (updated.length === 0) return;
    for (const hear of [...hearers]) hear(updated);
    for (const topic of updated) {
      const known = watched.get(topic);
      if (known) publish({ kind: 'resource_updated', uri: known.uri });
    }
  });
  return {
    publish,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    watch: (server, uri) => {
      const topic = mcpResourceTopic(server, uri);
      const known = watched.get(topic) ?? { uri, watchers: 0 };
      known.watchers += 1;
      watched.set(topic, known);
      let stopped = false;
      return () => {
        if (stopped) return;
        stopped = true;
        known.watchers -= 1;
        if (known.watchers === 0) watched.delete(topic);
      };
    },
    onUpdated: (hear) => {
      hearers.add(hear);
      return () => void hearers.delete(hear);
    },
  };
}

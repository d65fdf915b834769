import type { Socket } from 'node:net';
import type { Agent, Dispatcher } from 'undici';
import { type EgressRequest, type EgressResponse, guardedFetch } from './fetch/guarded-fetch.js';
import { checkUrl } from './guard/check-url.js';
import { createAgent, type TlsOptions } from './guard/create-agent.js';
import { type DialOptions, dial } from './guard/dial.js';
import type { EgressRules } from './guard/egress-rules.js';
import { type Resolve, systemResolve } from './guard/resolve-checked.js';

export type EgressOptions = { resolve?: Resolve; tls?: TlsOptions };

/** The only way to open outbound connections. Each is checked first against the rules of its call. */
export type Egress = {
  /** Sends a request and follows redirects. */
  fetch(url: string, request?: EgressRequest): Promise<EgressResponse>;
  /** For clients with their own undici. Redirects that they follow are checked again. */
  dispatcher(rules: EgressRules, onDomain?: (hostname: string) => void): Dispatcher;
  /** Opens a plain TCP connection. */
  dial(host: string, port: number, options: Omit<DialOptions, 'resolve'>): Promise<Socket>;
  close(): Promise<void>;
};

export function createEgress({ resolve = systemResolve, tls }: EgressOptions = {}): Egress {
  const agents = new Map<boolean, Agent>();
  const agentFor = ({ deny_private_ips = true }: EgressRules): Agent => {
    const agent = agents.get(deny_private_ips) ?? createAgent({ resolve, deny_private_ips, tls });
    agents.set(deny_private_ips, agent);
    return agent;
  };
  return {
    fetch: (url, request = {}) => guardedFetch(agentFor(request.rules ?? {}), url, request),
    dispatcher: (rules, onDomain) =>
      agentFor(rules).compose((dispatch) => (options, handler) => {
        const { hostname } = checkUrl(String(options.origin), rules);
        onDomain?.(hostname);
        return dispatch(options, handler);
      }),
    dial: (host, port, options) => dial(host, port, { ...options, resolve }),
    close: async () => {
      const open = [...agents.values()];
      agents.clear();
      await Promise.all(open.map((agent) => agent.destroy()));
    },
  };
}

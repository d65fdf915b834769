import type { Socket } from 'node:net';
import { Failure } from '@capstan/contracts';
import type { Meter } from './byte-meter.js';
import type { EgressProxyOptions } from './start-egress-proxy.js';

export type ProxyWay = EgressProxyOptions & { meter: Meter; track(socket: Socket): void };

export type OwnAnswer = { status: 403 | 502; message: string; headers: Record<string, string> };

/** Builds the error response for the client. Refusals are also reported, because they show what a page or program attempted. */
export function answerTo(way: ProxyWay, host: string, error: unknown): OwnAnswer {
  const message = error instanceof Error ? error.message : String(error);
  const isRefused = error instanceof Failure && error.kind === 'EGRESS_DENIED';
  if (isRefused) {
    const { rule } = error.context;
    way.onRefused?.({ host, reason: message, ...(typeof rule === 'string' ? { rule } : {}) });
  }
  return {
    status: isRefused ? 403 : 502,
    message,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'proxy-status': `capstan; error=${isRefused ? 'http_request_denied' : 'destination_unavailable'}`,
      connection: 'close',
    },
  };
}

import { HOUR_MS } from '@capstan/contracts/time';
import type { Query } from '../../api/request.js';
import { listOf, type Search } from '../../app/search.js';

export const SPANS: Readonly<Record<string, number>> = {
  '1h': HOUR_MS,
  '24h': 24 * HOUR_MS,
  '7d': 168 * HOUR_MS,
  '30d': 720 * HOUR_MS,
};
export const FACETS = ['q', 'status', 'runner', 'tool_id', 'actor', 'label', 'since', 'until', 'run_id', 'session_id'];

export const isFiltered = (search: Search): boolean => FACETS.some((name) => Boolean(search[name]));

/** Converts the filter in the URL to that of the API. A time span starts at the full minute, so that the response can be cached. */
export function apiFilter(search: Search): Query {
  const { status, label, since, ...others } = search;
  const span = since === undefined ? undefined : SPANS[since];
  const plain = Object.fromEntries(FACETS.flatMap((name) => (others[name] ? [[name, others[name]]] : [])));
  return {
    ...plain,
    ...(status ? { status: listOf(status) } : {}),
    ...(label ? { label: listOf(label) } : {}),
    ...(since
      ? { since: span ? new Date(Math.floor((Date.now() - span) / 60_000) * 60_000).toISOString() : since }
      : {}),
  };
}

import type { Page, Tool } from '@capstan/contracts';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { get, type Query } from './request.js';

export type ToolDetail = Tool & { unavailable: string | null };

export const toolsQuery = (filter: Query) =>
  queryOptions({
    queryKey: ['tools', filter],
    // Keep showing the old data while the new data is fetched.
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => get<Page<Tool>>('/v1/tools', { limit: 1000, enabled: 'any', ...filter }, signal),
  });

export const toolQuery = (tool_id: string) =>
  queryOptions({
    queryKey: ['tool', tool_id],
    queryFn: ({ signal }) => get<ToolDetail>(`/v1/tools/${encodeURIComponent(tool_id)}`, {}, signal),
  });

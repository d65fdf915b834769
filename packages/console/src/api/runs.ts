import type { ReplayAnswer, ReplayRequestInput, Run, RunDetail, RunEvent, RunStatus, Step } from '@capstan/contracts';
import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { get, getAll, post } from './request.js';

export const runPath = (id: string, action = ''): string => `/v1/runs/${encodeURIComponent(id)}${action}`;

export const RUN_STATUSES: readonly RunStatus[] = ['pending', 'running', 'paused', 'completed', 'failed', 'canceled'];
export const isOver = (status: RunStatus): boolean =>
  status === 'completed' || status === 'failed' || status === 'canceled';

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ['run', id],
    queryFn: ({ signal }) => get<RunDetail>(runPath(id), {}, signal),
  });

const MAX_STEPS = 20_000;

/** All steps of a run. The event stream keeps them current, so that other changes do not fetch all of them again. */
export const stepsQuery = (id: string) =>
  queryOptions({
    queryKey: ['run-steps', id],
    queryFn: () => getAll<Step>(runPath(id, '/steps'), { limit: 1000 }, MAX_STEPS),
    staleTime: 60_000,
  });

const GATHER_MS = 100;
const placeOf = ({ index, element }: Pick<Step, 'index' | 'element'>): string => `${index} ${element ?? ''}`;

/** Follows a run until it has ended, and writes each change to the cache. */
export function useRunStream(id: string, over: boolean): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (over) return;
    const source = new EventSource(runPath(id, '/events'));
    let gathered = new Map<string, Omit<Step, 'result'>>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      timer = undefined;
      const changes = gathered;
      gathered = new Map();
      queries.setQueryData<Step[]>(stepsQuery(id).queryKey, (steps) => steps && merged(steps, changes));
    };
    source.addEventListener('step', (message: MessageEvent<string>) => {
      const step: Omit<Step, 'result'> = JSON.parse(message.data);
      gathered.set(placeOf(step), step);
      timer ??= setTimeout(flush, GATHER_MS);
    });
    source.addEventListener('run', (message: MessageEvent<string>) => {
      const run: Extract<RunEvent, { event: 'run' }>['data'] = JSON.parse(message.data);
      queries.setQueryData<RunDetail>(runQuery(id).queryKey, (known) => known && { ...known, ...run });
      if (!isOver(run.status)) return;
      source.close();
      void queries.invalidateQueries({ queryKey: stepsQuery(id).queryKey });
    });
    return () => {
      clearTimeout(timer);
      source.close();
    };
  }, [id, over, queries]);
}

function merged(steps: readonly Step[], changes: ReadonlyMap<string, Omit<Step, 'result'>>): Step[] {
  const left = new Map(changes);
  const known = steps.map((step) => {
    const change = left.get(placeOf(step));
    left.delete(placeOf(step));
    return change ? { ...step, ...change } : step;
  });
  const fresh = [...left.values()].map((step): Step => ({ ...step, result: null }));
  return [...known, ...fresh].sort(
    (one, other) => one.index - other.index || (one.element ?? 0) - (other.element ?? 0),
  );
}

export function useRunActions() {
  const queries = useQueryClient();
  const then = <T>(result: T): T => {
    void queries.invalidateQueries({ predicate: ({ queryKey: [key] }) => key === 'runs' || key === 'run' });
    return result;
  };
  return {
    control: (id: string, action: 'pause' | 'resume' | 'cancel') => post<Run>(runPath(id, `/${action}`)).then(then),
    replay: (id: string, request: ReplayRequestInput) => post<ReplayAnswer>(runPath(id, '/replay'), request).then(then),
  };
}

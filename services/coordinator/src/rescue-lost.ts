import { type Backbone, tellReady, traceIdOf } from '@capstan/backbone';
import { loneRunId } from '@capstan/contracts';
import { publishEnded } from '@capstan/queue';
import { rescueClaims } from '@capstan/store/claim';
import type { CoordinatorMetrics } from './metrics.js';

const BATCH = 100;

/** Takes calls back from workers whose lease expired. */
export async function rescueLost(backbone: Backbone, metrics: CoordinatorMetrics): Promise<number> {
  const { ended, moved, ...readied } = await rescueClaims(backbone.store, BATCH);
  publishEnded(backbone.relay, ended);
  tellReady(backbone, readied);
  metrics.rescued(moved);
  if (moved.length > 0)
    backbone.log.warn({ count: moved.length, ended: ended.length }, 'rescued calls from lost workers');
  // A worker logs the end of its attempts. The workers of these are gone, so it is logged here.
  for (const { invocation_id, run_id, traceparent, tenant, runner, attempt, status } of moved.filter(
    (one) => one.begun,
  ))
    backbone.log.info(
      {
        trace_id: traceIdOf(traceparent),
        ...{ invocation_id, run_id: run_id ?? loneRunId(invocation_id), tenant, runner, attempt },
        ...{ outcome: 'lost', status },
      },
      'attempt ended',
    );
  return moved.length;
}

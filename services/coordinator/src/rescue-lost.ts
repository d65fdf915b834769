import type { Backbone } from '@capstan/backbone';
import { publishEnded } from '@capstan/queue';
import { rescueInvocations } from '@capstan/store';
import { handOver } from './hand-over.js';

const BATCH = 1000;

/** Invocations whose worker is gone. */
export async function rescueLost(backbone: Backbone): Promise<number> {
  const { box, ended, count } = await rescueInvocations(backbone.store, BATCH);
  publishEnded(backbone.relay, ended);
  await handOver(backbone, box);
  if (count > 0) backbone.log.warn({ count, ended: ended.length }, 'rescued invocations of lost workers');
  return count;
}

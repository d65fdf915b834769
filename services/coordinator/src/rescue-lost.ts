import { type Backbone, tellReady } from '@capstan/backbone';
import { publishEnded } from '@capstan/queue';
import { rescueClaims } from '@capstan/store';

const BATCH = 100;

/** Receipts of workers that are gone. */
export async function rescueLost(backbone: Backbone): Promise<number> {
  const { ended, count, ...readied } = await rescueClaims(backbone.store, BATCH);
  publishEnded(backbone.relay, ended);
  tellReady(backbone, readied);
  if (count > 0) backbone.log.warn({ count, ended: ended.length }, 'rescued calls of lost workers');
  return count;
}

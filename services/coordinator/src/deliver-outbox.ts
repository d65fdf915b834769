import type { Backbone } from '@capstan/backbone';
import { staleBoxes } from '@capstan/store';
import { handOver } from './hand-over.js';

/** Whoever committed a box delivers it within moments; one this old was left behind. */
const LEFT_BEHIND_MS = 3000;
const BATCH = 100;

export async function deliverOutbox(backbone: Backbone): Promise<number> {
  const boxes = await staleBoxes(backbone.store.db, LEFT_BEHIND_MS, BATCH);
  for (const box of boxes) await handOver(backbone, box);
  if (boxes.length > 0) backbone.log.info({ boxes: boxes.length }, 'delivered what was committed but not enqueued');
  return boxes.length;
}

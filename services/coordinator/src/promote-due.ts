import type { Backbone } from '@capstan/backbone';
import { promoteDeferred } from '@capstan/store';
import { handOver } from './hand-over.js';

const BATCH = 1000;

/** Delayed and scheduled starts whose time has come. */
export async function promoteDue(backbone: Backbone): Promise<number> {
  const box = await promoteDeferred(backbone.store, BATCH);
  await handOver(backbone, box);
  return box?.deliveries.length ?? 0;
}

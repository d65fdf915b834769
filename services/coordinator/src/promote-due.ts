import { type Backbone, tellReady } from '@capstan/backbone';
import { promoteDeferred } from '@capstan/store';

const BATCH = 1000;

/** Delayed and scheduled starts whose time has come. */
export async function promoteDue(backbone: Backbone): Promise<number> {
  const promoted = await promoteDeferred(backbone.store, BATCH);
  tellReady(backbone, promoted);
  return promoted.ids.length;
}

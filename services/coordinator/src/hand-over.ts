import type { Backbone } from '@capstan/backbone';
import { type BoxedDeliveries, unboxDeliveries } from '@capstan/store';

/** Delivers what a transaction boxed, then drops the box. If this fails half-way, the box is found again. */
export async function handOver({ store, queue, relay }: Backbone, box: BoxedDeliveries | null): Promise<void> {
  if (!box) return;
  await queue.enqueue(box.deliveries);
  await unboxDeliveries(store.db, [box.outbox_id]);
  relay.publish(
    'changed',
    box.deliveries.map((delivery) => delivery.invocation_id),
  );
}

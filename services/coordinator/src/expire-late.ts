import type { Backbone } from '@capstan/backbone';
import { publishEnded } from '@capstan/queue';
import { expireInvocations } from '@capstan/store';

const BATCH = 1000;

/** What waited longer than its submitter allows. */
export async function expireLate({ store, relay }: Backbone): Promise<number> {
  const expired = await expireInvocations(store, BATCH);
  publishEnded(relay, expired);
  if (expired.length > 0) relay.publish('due', ['events']);
  return expired.length;
}

import { queues } from '../fixtures/queues.js';

/** For `describe.each`, where both would test the same: the queue in which more can go wrong. */
export const hardestQueue = queues.slice(-1);

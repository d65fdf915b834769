export * from './claim-next.js';
export * from './claimed.js';
export { ENDED } from './ended-message.js';
export * from './own-claims.js';
export * from './readied.js';
export * from './rescue-claims.js';
export * from './settle-claims.js';
export * from './settlement.js';
export * from './undelivered.js';

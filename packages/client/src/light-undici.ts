import { createRequire } from 'node:module';
import type { Dispatcher, Pool } from 'undici';

/**
 * Loads only the two parts of undici that the client needs. Its index also loads fetch, WebSocket, caches and mocks, which took 100 ms
 * instead of 50 when measured, and `capstan invoke` is a new process every time. A test compares these paths with the classes of the
 * index, so that a moved file is noticed on upgrade.
 */
const require = createRequire(import.meta.url);

export const LightPool: typeof Pool = require('undici/lib/dispatcher/pool.js');

type Send = (this: Dispatcher, options: Dispatcher.RequestOptions) => Promise<Dispatcher.ResponseData>;
const send: Send = require('undici/lib/api/api-request.js');

/** `dispatcher.request(…)`, which only undici's index adds to its dispatchers. */
export const sendRequest = (
  dispatcher: Dispatcher,
  options: Dispatcher.RequestOptions,
): Promise<Dispatcher.ResponseData> => send.call(dispatcher, options);

import { createRequire } from 'node:module';
import type { Dispatcher, Pool } from 'undici';

/**
 * The two parts of undici that a client needs, without its index: that one also loads fetch, WebSocket, caches and
 * mocks, 100 ms against 50 on the machine where it was measured, and `capstan invoke` is a new process every time.
 * A test holds these paths to the classes of the index, so that a moved file shows on upgrade.
 */
const require = createRequire(import.meta.url);

export const LightPool: typeof Pool = require('undici/lib/dispatcher/pool.js');

type Send = (this: Dispatcher, options: Dispatcher.RequestOptions) => Promise<Dispatcher.ResponseData>;
const send: Send = require('undici/lib/api/api-request.js');

/** `dispatcher.request(…)`, which undici's index alone adds to its dispatchers. */
export const sendRequest = (
  dispatcher: Dispatcher,
  options: Dispatcher.RequestOptions,
): Promise<Dispatcher.ResponseData> => send.call(dispatcher, options);

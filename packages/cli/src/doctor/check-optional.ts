import type { Io } from '../io.js';
import type { Check } from './check.js';
import { hasBubblewrap } from './check-sandbox.js';
import { findExecutable } from './find-executable.js';
import { findPackage } from './find-package.js';

export const checkRedis = (env: Io['env']): Check => {
  const name = 'Redis';
  if (env.REDIS_URL) return { name, state: 'ok', found: 'REDIS_URL is set' };
  const path = findExecutable(['redis-server', 'valkey-server'], env);
  const advice =
    'Optional: without REDIS_URL the queue is in Postgres. Install redis-server and set REDIS_URL to use it.';
  return path === null
    ? { name, state: 'absent', found: 'not found', advice }
    : { name, state: 'ok', found: `${path} (used when REDIS_URL is set)` };
};

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const INSTALL_BROWSER = 'Optional, for browser tools: apt install chromium, or npm install @sparticuz/chromium.';
const CONTAIN_BROWSER =
  'Chromium runs without a sandbox of its own: install bubblewrap, or run the worker as another user than root.';

export const checkBrowser = (env: Io['env']): Check => {
  const name = 'Chromium';
  const bundled = findPackage('@sparticuz/chromium') === null ? null : '@sparticuz/chromium';
  const found = findExecutable(BROWSERS, env) ?? bundled;
  if (found === null) return { name, state: 'absent', found: 'not found', advice: INSTALL_BROWSER };
  // Its own sandbox does not work under root.
  return process.getuid?.() === 0 && !hasBubblewrap(env)
    ? { name, state: 'absent', found: `${found}, without a sandbox`, advice: CONTAIN_BROWSER }
    : { name, state: 'ok', found };
};

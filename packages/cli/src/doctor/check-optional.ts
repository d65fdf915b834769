import type { Io } from '../io.js';
import type { Check } from './check.js';
import { findExecutable } from './find-executable.js';
import { findPackage } from './find-package.js';

export const checkRedis = (env: Io['env']): Check => {
  const name = 'Redis';
  if (env.REDIS_URL) return { name, state: 'ok', found: 'REDIS_URL is set' };
  const path = findExecutable(['redis-server', 'valkey-server'], env);
  const advice =
    'Optional: without REDIS_URL the queue is in Postgres. Install redis-server and set REDIS_URL to use it.';
  return path === null
    ? { name, state: 'absent', found: 'not here', advice }
    : { name, state: 'ok', found: `${path} (used when REDIS_URL is set)` };
};

const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

export const checkBrowser = (env: Io['env']): Check => {
  const name = 'Chromium';
  const path = findExecutable(BROWSERS, env);
  if (path !== null) return { name, state: 'ok', found: path };
  const bundled = findPackage('@sparticuz/chromium');
  const advice = 'Optional, for browser tools: apt install chromium, or npm install @sparticuz/chromium.';
  return bundled === null
    ? { name, state: 'absent', found: 'not here', advice }
    : { name, state: 'ok', found: '@sparticuz/chromium' };
};

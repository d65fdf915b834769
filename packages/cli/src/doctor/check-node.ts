import type { Check } from './check.js';

const NEEDED = [20, 19] as const;

export const checkNode = (version = process.versions.node): Check => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const enough = major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
  return {
    name: 'Node.js',
    state: enough ? 'ok' : 'missing',
    found: version,
    advice: `Install Node.js ${NEEDED.join('.')} or newer.`,
  };
};

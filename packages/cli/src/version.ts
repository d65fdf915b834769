import { readFileSync } from 'node:fs';

export const readVersion = (): string => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return String(version);
};

import { createHash } from 'node:crypto';

/** Sample keys from public documentation, which are not secret, by the beginning of their SHA-256. */
const SAMPLES: ReadonlySet<string> = new Set([
  'f56e323494a6',
  '2037abcaffb2',
  '3f370c9dd822',
  'e4a5542bb7fd',
  'a19f89ab3555',
  '0b476bdf9acf',
  'eb540d2b6ee2',
  '37f8f09bdf12',
  '8731261cb72d',
  '49f777db995e',
  '27a9a42931df',
  'dc0fcf046c61',
  '4c98242dcadc',
  'ea9bb1082cf9',
  '3a8b61d0f636',
  'a6c814bc555a',
]);

export const isPublishedSample = (key: string): boolean =>
  SAMPLES.has(createHash('sha256').update(key).digest('hex').slice(0, 12));

import { UsageError } from '../usage-error.js';

/** Far above the gateway's limit for one invocation, so a file with a larger item is probably the wrong file. */
const MAX_ITEM_CHARS = 64 * 1024 * 1024;

export const assertSize = (text: string): void => {
  if (text.length > MAX_ITEM_CHARS) {
    throw new UsageError(
      'one item is larger than 64 MiB',
      'Expected one JSON object per line, or a JSON array of objects.',
    );
  }
};

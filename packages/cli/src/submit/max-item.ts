import { UsageError } from '../usage-error.js';

/** Far above what a gateway takes for one invocation: a file that has more is not what it was thought to be. */
const MAX_ITEM_CHARS = 64 * 1024 * 1024;

export const assertSize = (text: string): void => {
  if (text.length > MAX_ITEM_CHARS) {
    throw new UsageError('one item is larger than 64 MiB', 'Give one JSON object a line, or a JSON array of objects.');
  }
};

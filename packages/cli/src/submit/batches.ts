import type { Entry } from './read-submissions.js';

/** The limits of one bulk: the gateway's maximum number of items, and well under its default limit of 64 MiB. */
const MAX_ITEMS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** Groups entries into bulks within the limits of the gateway. */
export async function* batches(
  entries: AsyncIterable<Entry>,
  { items = MAX_ITEMS, bytes = MAX_BYTES } = {},
): AsyncGenerator<Entry[]> {
  let batch: Entry[] = [];
  let size = 0;
  for await (const entry of entries) {
    if (batch.length > 0 && (batch.length >= items || size + entry.bytes > bytes)) {
      yield batch;
      batch = [];
      size = 0;
    }
    batch.push(entry);
    // The comma between two items counts too.
    size += entry.bytes + 1;
  }
  if (batch.length > 0) yield batch;
}

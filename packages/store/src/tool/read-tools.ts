import type { Store } from '../open-store.js';

/** A raw row. Its descriptor is validated by the reader, so that one invalid row does not hide the others. */
export type ToolRow = {
  tool_id: string;
  source: string;
  origin: string;
  descriptor: unknown;
  descriptor_hash: string;
  enabled: boolean;
};

export const readTools = (store: Store): Promise<ToolRow[]> =>
  store.db
    .selectFrom('tools')
    .select(['tool_id', 'source', 'origin', 'descriptor', 'descriptor_hash', 'enabled'])
    .orderBy('tool_id')
    .execute();

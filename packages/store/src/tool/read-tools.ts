import type { Store } from '../open-store.js';

/** A row as it is: whoever reads it checks the descriptor, since one bad row must not hide the others. */
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

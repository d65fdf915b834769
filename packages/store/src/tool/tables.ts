import type { Descriptor, ToolSource } from '@capstan/contracts';
import type { JsonText, Timestamp } from '../columns.js';

export type ToolTables = {
  tools: {
    tool_id: string;
    source: ToolSource;
    origin: string;
    descriptor: JsonText<Descriptor>;
    descriptor_hash: string;
    enabled: boolean;
    updated_at: Timestamp;
  };
};

import type { JsonObject } from '@capstan/contracts';
import type { JsonText, Timestamp } from '../columns.js';

export type ExtensionTables = {
  extensions: {
    extension_id: string;
    manifest: JsonText<JsonObject>;
    commands: JsonText<JsonObject>;
    usage: string | null;
    /** The hash of its own executables in extension_files. */
    tools_hash: string | null;
    enabled: boolean;
    installed_by: string;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  extension_files: { tools_hash: string; name: string; sha256: string; content: Buffer };
};

import type { Descriptor } from '@capstan/contracts';
import { ANALYZE_TOOLS } from './native/analyze-tools.js';
import { API_TOOLS } from './native/api-tools.js';
import { BROWSER_TOOLS } from './native/browser-tools.js';
import { IN_PROCESS_TOOLS } from './native/builtin-tools.js';
import { DB_TOOLS } from './native/db-tools.js';
import { EXEC_TOOLS } from './native/exec-tools.js';
import { FILE_TOOLS } from './native/file-tools.js';
import { MCP_TOOLS } from './native/mcp-tools.js';
import { withOutputSchema } from './native/output-schemas.js';

export const BUILTIN_TOOLS: Descriptor[] = [
  ...ANALYZE_TOOLS,
  ...API_TOOLS,
  ...DB_TOOLS,
  ...BROWSER_TOOLS,
  ...MCP_TOOLS,
  ...IN_PROCESS_TOOLS,
  ...FILE_TOOLS,
  ...EXEC_TOOLS,
].map(withOutputSchema);

import { join } from 'node:path';
import type { RunnerType } from '@capstan/contracts';
import type { AnalyzePorts } from './analyze/analyze-ports.js';
import { createAnalyzeRunner } from './analyze/create-analyze-runner.js';
import type { LlmSettings } from './analyze/llm/llm-settings.js';
import { createApiRunner } from './api/create-api-runner.js';
import { createBrowserRunner } from './browser/create-browser-runner.js';
import { createBuiltinRunner } from './builtin/create-builtin-runner.js';
import { createDbRunner } from './db/create-db-runner.js';
import type { DbConnection } from './db/db-connections.js';
import { createExecRunner, type ExecRunnerOptions } from './exec/create-exec-runner.js';
import { createFileRunner } from './file/create-file-runner.js';
import { createMcpRunner } from './mcp/create-mcp-runner.js';
import type { McpPorts } from './mcp/mcp-ports.js';
import type { Runner } from './runner.js';

export type RunnersOptions = ExecRunnerOptions & {
  clock?: () => Date;
  /** The directory of `fs.read` and `fs.write`. Default: a folder in the work directory. */
  workspace?: string | undefined;
  /** Without it there is no mcp runner. */
  mcp?: McpPorts | undefined;
  llm?: LlmSettings | undefined;
  analyze?: AnalyzePorts | undefined;
  databases?: readonly DbConnection[] | undefined;
};

/** One runner of each type. None starts or opens anything before its first run. CONTRIBUTING.md says what else a new type needs. */
export const createRunners = ({
  llm,
  analyze,
  databases,
  clock,
  workspace,
  mcp,
  ...exec
}: RunnersOptions): Map<RunnerType, Runner> => {
  const runners = [
    createAnalyzeRunner({ llm, ports: analyze }),
    createDbRunner({ connections: databases }),
    createApiRunner(),
    createBrowserRunner({ path: exec.env?.PATH, executable: exec.env?.CAPSTAN_BROWSER, tool_uids: exec.tool_uids }),
    createBuiltinRunner(clock && { clock }),
    createExecRunner(exec),
    createFileRunner({ workspace: workspace ?? join(exec.work_dir, 'workspace') }),
    ...(mcp ? [createMcpRunner({ ...exec, ports: mcp })] : []),
  ];
  return new Map(runners.map((runner) => [runner.type, runner]));
};

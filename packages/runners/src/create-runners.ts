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
  const { env, tool_uids, work_dir } = exec;
  const runners: Record<Exclude<RunnerType, 'app'>, Runner | null> = {
    exec: createExecRunner(exec),
    analyze: createAnalyzeRunner({ llm, ports: analyze }),
    browser: createBrowserRunner({ path: env?.PATH, executable: env?.CAPSTAN_BROWSER, tool_uids }),
    api: createApiRunner(),
    mcp: mcp ? createMcpRunner({ ...exec, ports: mcp }) : null,
    file: createFileRunner({ workspace: workspace ?? join(work_dir, 'workspace') }),
    db: createDbRunner({ connections: databases }),
    builtin: createBuiltinRunner(clock && { clock }),
  };
  return new Map(Object.values(runners).flatMap((runner) => (runner ? [[runner.type, runner]] : [])));
};

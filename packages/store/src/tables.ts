import type { AgentTables } from './agent/tables.js';
import type { ArtifactTables } from './artifact/tables.js';
import type { AtipTables } from './atip/tables.js';
import type { AuditTables } from './audit/tables.js';
import type { EventTables } from './event/tables.js';
import type { ExtensionTables } from './extension/tables.js';
import type { HoldTables } from './hold/tables.js';
import type { InvocationTables } from './invocation/tables.js';
import type { KeyTables } from './key/tables.js';
import type { LogTables } from './log/tables.js';
import type { LoginTables } from './login/tables.js';
import type { McpServerTables } from './mcp-server/tables.js';
import type { McpSessionTables } from './mcp-session/tables.js';
import type { MerkleTables } from './merkle/tables.js';
import type { OpenApiTables } from './openapi/tables.js';
import type { PlanTables } from './plan/tables.js';
import type { PolicyTables } from './policy/tables.js';
import type { PoolTables } from './pool/tables.js';
import type { QueueTables } from './queue/tables.js';
import type { QuotaTables } from './quota/tables.js';
import type { RecordTables } from './record/tables.js';
import type { RetentionTables } from './retention/tables.js';
import type { RunTables } from './run/tables.js';
import type { ScheduleTables } from './schedule/tables.js';
import type { SealTables } from './seal/tables.js';
import type { SecretTables } from './secret/tables.js';
import type { SessionTables } from './session/tables.js';
import type { StatsTables } from './stats/tables.js';
import type { ToolTables } from './tool/tables.js';
import type { ToolsetTables } from './toolset/tables.js';
import type { WebhookTables } from './webhook/tables.js';
import type { WorkerTables } from './worker/tables.js';

export type Tables = AgentTables &
  ArtifactTables &
  AtipTables &
  AuditTables &
  EventTables &
  ExtensionTables &
  HoldTables &
  InvocationTables &
  KeyTables &
  LogTables &
  LoginTables &
  McpServerTables &
  McpSessionTables &
  MerkleTables &
  OpenApiTables &
  PlanTables &
  PolicyTables &
  PoolTables &
  QueueTables &
  QuotaTables &
  RecordTables &
  RetentionTables &
  RunTables &
  ScheduleTables &
  SealTables &
  SecretTables &
  SessionTables &
  StatsTables &
  ToolTables &
  ToolsetTables &
  WebhookTables &
  WorkerTables;

import type { Migration } from 'kysely';
import * as foundation from './0001-foundation.js';
import * as catalog from './0002-catalog.js';
import * as agentsSessions from './0003-agents-sessions.js';
import * as artifacts from './0004-artifacts.js';
import * as secrets from './0005-secrets.js';
import * as mcpServers from './0006-mcp-servers.js';
import * as plans from './0007-plans.js';
import * as holds from './0008-holds.js';
import * as webhooksQuotas from './0009-webhooks-quotas.js';
import * as seals from './0010-seals.js';
import * as origins from './0011-origins.js';
import * as waitingSteps from './0012-waiting-steps.js';
import * as unmovedSteps from './0013-unmoved-steps.js';
import * as ledger from './0014-ledger.js';
import * as log from './0015-log.js';
import * as clearedResponses from './0016-cleared-responses.js';
import * as logins from './0022-logins.js';
import * as identities from './0023-identities.js';
import * as stats from './0024-stats.js';
import * as pools from './0026-pools.js';
import * as openapi from './0028-openapi.js';
import * as mcpQuestions from './0030-mcp-questions.js';
import * as mcpSources from './0031-mcp-sources.js';
import * as toolsets from './0032-toolsets.js';
import * as traces from './0033-traces.js';
import * as logDays from './0034-log-days.js';
import * as runTraces from './0035-run-traces.js';
import * as decideElsewhere from './0037-decide-elsewhere.js';
import * as ageIndexes from './0038-age-indexes.js';
import * as heldTasks from './0039-held-tasks.js';
import * as artifactAttempts from './0040-artifact-attempts.js';
import * as findFailures from './0041-find-failures.js';

/** In order. Never edited once shipped: a change is a new entry. */
export const MIGRATIONS: Record<string, Migration> = {
  '0001-foundation': foundation,
  '0002-catalog': catalog,
  '0003-agents-sessions': agentsSessions,
  '0004-artifacts': artifacts,
  '0005-secrets': secrets,
  '0006-mcp-servers': mcpServers,
  '0007-plans': plans,
  '0008-holds': holds,
  '0009-webhooks-quotas': webhooksQuotas,
  '0010-seals': seals,
  '0011-origins': origins,
  '0012-waiting-steps': waitingSteps,
  '0013-unmoved-steps': unmovedSteps,
  '0014-ledger': ledger,
  '0015-log': log,
  '0016-cleared-responses': clearedResponses,
  '0022-logins': logins,
  '0023-identities': identities,
  '0024-stats': stats,
  '0026-pools': pools,
  '0028-openapi': openapi,
  '0030-mcp-questions': mcpQuestions,
  '0031-mcp-sources': mcpSources,
  '0032-toolsets': toolsets,
  '0033-traces': traces,
  '0034-log-days': logDays,
  '0035-run-traces': runTraces,
  '0037-decide-elsewhere': decideElsewhere,
  '0038-age-indexes': ageIndexes,
  '0039-held-tasks': heldTasks,
  '0040-artifact-attempts': artifactAttempts,
  '0041-find-failures': findFailures,
};

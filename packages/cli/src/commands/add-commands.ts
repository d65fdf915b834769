import type { Command } from 'commander';
import type { AddCommand, Cli } from '../cli.js';

type Load = () => Promise<AddCommand>;

/** All commands, grouped by task as the help lists them. */
const COMMANDS: Record<string, Record<string, Load>> = {
  Start: {
    up: async () => (await import('./up.js')).addUp,
    init: async () => (await import('./init.js')).addInit,
    dev: async () => (await import('./dev.js')).addDev,
    doctor: async () => (await import('./doctor.js')).addDoctor,
    login: async () => (await import('./login.js')).addLogin,
    logout: async () => (await import('./login.js')).addLogout,
    profiles: async () => (await import('./login.js')).addProfiles,
    whoami: async () => (await import('./whoami.js')).addWhoami,
    config: async () => (await import('./config.js')).addConfig,
    completion: async () => (await import('./completion.js')).addCompletion,
    version: async () => (await import('./version.js')).addVersion,
  },
  'Run tools': {
    invoke: async () => (await import('./invoke.js')).addInvoke,
    submit: async () => (await import('./submit.js')).addSubmit,
    run: async () => (await import('./run.js')).addRun,
    schedule: async () => (await import('./schedule.js')).addSchedule,
    tools: async () => (await import('./tools.js')).addTools,
    serve: async () => (await import('./serve.js')).addServe,
    types: async () => (await import('./types.js')).addTypes,
    command: async () => (await import('./command.js')).addCommand,
    agents: async () => (await import('./agents.js')).addAgents,
  },
  Inspect: {
    show: async () => (await import('./show.js')).addShow,
    list: async () => (await import('./list.js')).addList,
    runs: async () => (await import('./runs.js')).addRuns,
    logs: async () => (await import('./logs.js')).addLogs,
    stats: async () => (await import('./stats.js')).addStats,
    events: async () => (await import('./events.js')).addEvents,
    artifacts: async () => (await import('./artifact.js')).addArtifacts,
    artifact: async () => (await import('./artifact.js')).addArtifact,
    report: async () => (await import('./report.js')).addReport,
    verify: async () => (await import('./verify.js')).addVerify,
    log: async () => (await import('./log.js')).addLog,
    replay: async () => (await import('./replay.js')).addReplay,
    audit: async () => (await import('./audit.js')).addAudit,
  },
  'Approve and control': {
    holds: async () => (await import('./holds.js')).addHolds,
    release: async () => (await import('./release.js')).addRelease,
    reject: async () => (await import('./reject.js')).addReject,
    answer: async () => (await import('./answer.js')).addAnswer,
    withdraw: async () => (await import('./withdraw.js')).addWithdraw,
    grant: async () => (await import('./grant.js')).addGrant,
    cancel: async () => (await import('./cancel.js')).addCancel,
    redrive: async () => (await import('./redrive.js')).addRedrive,
    resolve: async () => (await import('./resolve.js')).addResolve,
    queues: async () => (await import('./queues.js')).addQueues,
  },
  Administer: {
    workers: async () => (await import('./workers.js')).addWorkers,
    mcp: async () => (await import('./mcp.js')).addMcp,
    toolset: async () => (await import('./toolset.js')).addToolset,
    extension: async () => (await import('./extension.js')).addExtension,
    atip: async () => (await import('./atip.js')).addAtip,
    openapi: async () => (await import('./openapi.js')).addOpenApi,
    keys: async () => (await import('./keys.js')).addKeys,
    logins: async () => (await import('./logins.js')).addLogins,
    secret: async () => (await import('./secret.js')).addSecret,
    quota: async () => (await import('./quota.js')).addQuota,
    retention: async () => (await import('./retention.js')).addRetention,
    webhook: async () => (await import('./webhook.js')).addWebhook,
    policy: async () => (await import('./policy.js')).addPolicy,
    explain: async () => (await import('./explain.js')).addExplain,
    'what-if': async () => (await import('./what-if.js')).addWhatIf,
  },
  'Run a single service': {
    gateway: async () => (await import('./gateway.js')).addGateway,
    coordinator: async () => (await import('./coordinator.js')).addCoordinator,
    worker: async () => (await import('./worker.js')).addWorker,
    migrate: async () => (await import('./migrate.js')).addMigrate,
  },
};

/**
 * Adds the command that the arguments name, or all commands for help and for unknown names. Loading one file instead of
 * fifty saves a third of the startup time of `capstan invoke`.
 */
export const addCommands = async (program: Command, cli: Cli, args: readonly string[]): Promise<void> => {
  const wanted = commandOf(args);
  const known = Object.values(COMMANDS).some((group) => wanted !== undefined && Object.hasOwn(group, wanted));
  for (const [heading, group] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    for (const [name, load] of Object.entries(group)) {
      if (!known || name === wanted) (await load())(program, cli);
    }
  }
};

const WITH_VALUE: ReadonlySet<string | undefined> = new Set(['--url', '--key', '--profile']);

/** The first argument that is neither an option nor the value of a global option. */
const commandOf = (args: readonly string[]): string | undefined =>
  args.find((arg, at) => !arg.startsWith('-') && !WITH_VALUE.has(args[at - 1]));

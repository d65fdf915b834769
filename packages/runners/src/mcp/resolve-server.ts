import { Failure, type Limits, type NewMcpServer } from '@capstan/contracts';
import type { EgressRules } from '@capstan/egress';
import { hashJson } from '@capstan/integrity';
import type { WaitingCall } from '../runner.js';
import type { McpServerSettings } from './mcp-ports.js';

/** A server whose secret references have been replaced by their values, ready to connect to. */
export type ResolvedServer = {
  config: NewMcpServer;
  tenant: string;
  /** The person whose login the connection uses; empty if the server is not one that people log in to. */
  actor: string;
  env: Record<string, string>;
  headers: Record<string, string>;
  allow_private: boolean;
  /** The hosts that the call's policy lets a program connect to. */
  rules: EgressRules;
  /** Values to redact from everything that the server returns. */
  secrets: string[];
  /** Equal for calls that may share a connection: same tenant, login, configuration and secrets, and for programs the same egress rules. */
  key: string;
};

const REFERENCE = /^secret:\/\/([\w.-]{1,128})$/;
const EMBEDDED = /secret:\/\/([\w.-]{1,128})/g;
/** Names of variables and headers that usually hold a secret, even if it is not given as a reference. */
const SENSITIVE = /auth|token|secret|key|passw|credential|cookie/i;
const MIN_SECRET = 8;

/** Runs for each call, even if a connection is open: the call's redactor must know the secrets, and a rotated secret needs a new connection. */
export async function resolveServer(
  { config, allow_private }: McpServerSettings,
  call: WaitingCall,
): Promise<ResolvedServer> {
  const secrets: string[] = [];
  const hosts = hostsOf(config);
  const resolveAll = async (values: Record<string, string> = {}) => {
    const entries = Object.entries(values).map(async ([name, value]): Promise<[string, string]> => {
      const clear = await resolveValue(value, call, hosts, secrets);
      if (clear === value && SENSITIVE.test(name) && value.length >= MIN_SECRET) secrets.push(...withoutScheme(value));
      return [name, clear];
    });
    return Object.fromEntries(await Promise.all(entries));
  };
  const [env, headers] = [await resolveAll(config.env), await resolveAll(config.headers)];
  const rules = rulesOf(call.limits);
  const way = isOnline(config) ? JSON.stringify(rules) : null;
  // Without credentials in the configuration, the tokens may be those of one person's login.
  const actor = config.url !== undefined && !hasCredentials(headers) ? call.actor : '';
  const key = hashJson([call.tenant, actor, JSON.stringify(config), env, headers, allow_private, way]);
  return { config, tenant: call.tenant, actor, env, headers, allow_private, rules, secrets, key };
}

const hasCredentials = (headers: Record<string, string>): boolean =>
  Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');

const rulesOf = ({ network, deny_domains, deny_private_ips }: Limits): EgressRules => ({
  ...(network === undefined ? {} : { network }),
  ...(deny_domains === undefined ? {} : { deny_domains }),
  ...(deny_private_ips === undefined ? {} : { deny_private_ips }),
});

/** Whether it is a program with the permission `network`. */
export const isOnline = ({ url, permissions = [] }: NewMcpServer): boolean =>
  url === undefined && permissions.includes('network');

/** The hosts that its secrets can reach: its own host, or any host for a program with network access. */
const hostsOf = (config: NewMcpServer): string[] =>
  config.url === undefined ? (isOnline(config) ? ['*'] : []) : [new URL(config.url).hostname];

/** The value is a reference, or contains one, such as `Bearer secret://name`. */
async function resolveValue(
  value: string,
  call: WaitingCall,
  hosts: readonly string[],
  secrets: string[],
): Promise<string> {
  const whole = REFERENCE.exec(value)?.[1];
  const names = whole === undefined ? [...value.matchAll(EMBEDDED)].flatMap(([, name]) => name ?? []) : [whole];
  let clear = value;
  for (const name of names) {
    const secret = await call.secret(name, hosts);
    if (/[\r\n\0]/.test(secret))
      throw new Failure('INVALID_INPUTS', {
        detail: `the secret ${name} has line breaks, which no header or variable takes`,
      });
    secrets.push(secret);
    clear = clear.replace(`secret://${name}`, () => secret);
  }
  return clear;
}

/** Adds the token of `Bearer abc`: a server is more likely to repeat the token than the whole header. */
const withoutScheme = (value: string): string[] => {
  const token = /^\w+ (\S{8,})$/.exec(value)?.[1];
  return token === undefined ? [value] : [value, token];
};

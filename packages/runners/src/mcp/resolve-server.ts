import { Failure, type Limits, type NewMcpServer } from '@capstan/contracts';
import type { EgressRules } from '@capstan/egress';
import { hashJson } from '@capstan/integrity';
import type { Call } from '../runner.js';
import type { McpServerSettings } from './mcp-ports.js';

/** A server with the values behind its references, ready to be connected to. */
export type ResolvedServer = {
  config: NewMcpServer;
  tenant: string;
  /** Whose calls share the connection, where people log in to the server; else it is of no consequence. */
  actor: string;
  env: Record<string, string>;
  headers: Record<string, string>;
  allow_private: boolean;
  /** Where the policy of the call lets a program connect to. */
  rules: EgressRules;
  /** Values that must not come back in what the server says. */
  secrets: string[];
  /** Equal for calls that may share a connection: the same tenant, configuration and secrets, and the same way out. */
  key: string;
};

const REFERENCE = /^secret:\/\/([\w.-]{1,128})$/;
const EMBEDDED = /secret:\/\/([\w.-]{1,128})/g;
/** Names under which people keep what nobody should see, also where they did not use a reference. */
const SENSITIVE = /auth|token|secret|key|passw|credential|cookie/i;
const MIN_SECRET = 8;

/** Asked for each call, also over an open connection: so its redactor knows the secrets, and a rotated one opens another. */
export async function resolveServer({ config, allow_private }: McpServerSettings, call: Call): Promise<ResolvedServer> {
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
  // Tokens may be those of one person.
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

/** A program that may have a network at all. */
export const isOnline = ({ url, permissions = [] }: NewMcpServer): boolean =>
  url === undefined && permissions.includes('network');

/** Where its secrets can get to: its own host, or all that a program with network reaches. */
const hostsOf = (config: NewMcpServer): string[] =>
  config.url === undefined ? (isOnline(config) ? ['*'] : []) : [new URL(config.url).hostname];

/** A reference alone, or within a value such as `Bearer secret://name`. */
async function resolveValue(value: string, call: Call, hosts: readonly string[], secrets: string[]): Promise<string> {
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

/** `Bearer abc`: a server is likelier to repeat the token than the whole header. */
const withoutScheme = (value: string): string[] => {
  const token = /^\w+ (\S{8,})$/.exec(value)?.[1];
  return token === undefined ? [value] : [value, token];
};

import { Failure, INSTALLATION_POLICY, type Policy, type Principal, type PutPolicy } from '@capstan/contracts';
import { checkInstallation, findWarnings, formatPolicy, invalidPolicy } from '@capstan/policy';
import { putPolicy } from '@capstan/store/policy';
import type { GatewayContext } from '../gateway-context.js';
import { readPolicy } from './read-policy.js';

/** A version never changes; even an edited comment makes a new version. */
export const etagOf = ({ version }: Pick<Policy, 'version'>): string => `"${version}"`;

/** A document or its text. `if_match` is the header that names the version to replace. */
export type SentPolicy = { name: string; sent: unknown; if_match: string | undefined };

/** Checks a policy and puts it in force, here at once and in all other processes. */
export async function putInForce(
  gateway: GatewayContext,
  principal: Principal,
  { name, sent, if_match }: SentPolicy,
): Promise<PutPolicy> {
  const { store, relay, policies, catalog } = gateway;
  const document = await readPolicy(gateway, principal.tenant, sent);
  const checked = name === INSTALLATION_POLICY ? checkInstallation(document) : document;
  const policy = await putPolicy(store, principal, name, checked, {
    text: typeof sent === 'string' ? storable(sent) : null,
    written: formatPolicy({ text: null, document: checked }),
    check: (latest) => checkMatch(if_match, name, latest),
  });
  relay.publish('refresh', ['policies']);
  await policies.refresh();
  const tool_ids = catalog.list().map(({ descriptor }) => descriptor.tool_id);
  return { ...policy, warnings: findWarnings(policy.document, tool_ids) };
}

/** Postgres cannot store NUL, which a comment in the text may contain. */
function storable(text: string): string {
  if (!text.includes('\u0000')) return text;
  throw invalidPolicy([{ field: '', message: 'contains a NUL character' }]);
}

/** Refuses a change that is based on another version than the one in force. A compressing proxy may have made the ETag weak. */
function checkMatch(if_match: string | undefined, name: string, latest: Policy | undefined): void {
  if (if_match === undefined) return;
  const tags = if_match.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (latest && (tags.includes('*') || tags.includes(etagOf(latest)))) return;
  throw new Failure('PRECONDITION_FAILED', {
    detail: latest
      ? `If-Match is ${if_match.slice(0, 200)}, but version ${latest.version} of the policy ${name} is in force: ${etagOf(latest)}.`
      : `If-Match is ${if_match.slice(0, 200)}, but there is no policy ${name} yet.`,
    context: { version: latest?.version ?? null },
  });
}

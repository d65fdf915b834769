import type { LiveRules } from '@capstan/backbone';
import type { Catalog, CatalogEntry } from '@capstan/catalog';
import { type Decision, Failure, type JsonObject, type Role } from '@capstan/contracts';
import { CanonicalJsonError, hashJson } from '@capstan/integrity';
import type { CompiledPolicy, Facts, Request } from '@capstan/policy';

/** What policy has to know of a call, wherever it is judged: as it comes in, before a release, and once more before it runs. */
export type JudgedCall = {
  tenant: string;
  actor: string;
  roles: readonly Role[];
  tool_id: string;
  inputs: JsonObject;
  mode: 'execution' | 'planning';
  labels: Readonly<Record<string, string>>;
  session_id: string | null;
  timeout_ms?: number | null | undefined;
  spec_frozen?: boolean | null | undefined;
  spec_hash?: string | null | undefined;
};

/** What the call itself does not say, of the tool that it turns out to be. */
export type FactsOf = (tool_id: string) => Facts;

/** What is known of tools and of approved specifications at this moment. */
export type Snapshots = {
  catalog: Pick<Catalog, 'get' | 'disabled' | 'similar'>;
  rules: Pick<LiveRules, 'approvedSpecs'>;
};

export type Judgement = { entry: CatalogEntry; input_hash: string; decision: Decision };

/** Resolves the tool, checks the inputs against its schema, hashes them as they were sent, and asks policy. */
export function judge(
  { catalog, rules }: Snapshots,
  policy: Pick<CompiledPolicy, 'decide'>,
  call: JudgedCall,
  facts?: FactsOf,
): Judgement {
  const entry = resolveTool(catalog, call.tool_id);
  // What is wrong with the inputs of a tool that is switched off is of no use to anybody.
  const input_hash = isDisabled(catalog, entry) ? hashInputs(call.inputs) : checkInputs(entry, call.inputs);
  const decision = policy.decide(requestOf(rules, entry, call, facts?.(entry.descriptor.tool_id)));
  return { entry, input_hash, decision: unlessDisabled(catalog, entry, decision) };
}

const isDisabled = (catalog: Pick<Catalog, 'get'>, { descriptor }: CatalogEntry): boolean =>
  catalog.get(descriptor.tool_id) === undefined;

/** A tool that is switched off is denied, whatever policy says. */
export function unlessDisabled(catalog: Pick<Catalog, 'get'>, entry: CatalogEntry, decision: Decision): Decision {
  if (!isDisabled(catalog, entry)) return decision;
  const { approvals: _, ...rest } = decision;
  return {
    ...rest,
    effect: 'deny',
    allowed: false,
    reason: 'the tool is disabled',
    rule_matched: null,
    code: 'TOOL_DISABLED',
  };
}

export const requestOf = (
  rules: Pick<LiveRules, 'approvedSpecs'>,
  entry: CatalogEntry,
  call: JudgedCall,
  facts?: Facts,
): Request => ({
  descriptor: entry.descriptor,
  // As the tool is to get them: what is judged has to be what runs.
  inputs: entry.prepare(call.inputs).inputs,
  mode: call.mode,
  timeout_ms: call.timeout_ms ?? undefined,
  actor: { name: call.actor, roles: call.roles, tenant: call.tenant },
  labels: call.labels,
  session_id: call.session_id,
  spec_frozen: call.spec_frozen,
  spec_hash: call.spec_hash,
  facts: call.spec_hash ? { ...facts, approved_specs: rules.approvedSpecs(call.tenant) } : facts,
});

export function resolveTool(catalog: Snapshots['catalog'], tool_id: string): CatalogEntry {
  const tool = catalog.get(tool_id) ?? catalog.disabled(tool_id);
  if (tool) return tool;
  const similar = catalog.similar(tool_id);
  throw new Failure('UNKNOWN_TOOL', {
    detail: `There is no tool ${JSON.stringify(tool_id)}.`,
    context: { similar },
    ...(similar.length > 0 ? { suggestion: `Did you mean ${similar.join(', ')}?` } : {}),
  });
}

function checkInputs(tool: CatalogEntry, inputs: JsonObject): string {
  const errors = tool.check(inputs);
  const [first] = errors;
  if (first) throw new Failure('INVALID_INPUTS', { detail: `${first.field} ${first.message}`, context: { errors } });
  return hashInputs(inputs);
}

function hashInputs(inputs: JsonObject): string {
  try {
    return hashJson(inputs);
  } catch (error) {
    if (!(error instanceof CanonicalJsonError)) throw error;
    throw new Failure('INVALID_INPUTS', { detail: `inputs: ${error.message}`, cause: error });
  }
}

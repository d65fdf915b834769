import type { Decision, Descriptor, JsonObject, Role } from '@capstan/contracts';

/** Whose document it is: a tenant's, which allows, or the installation's, which bounds what tenants allow. */
export type Part = 'tenant' | 'installation';

/** What is asked: may this call run? */
export type Request = {
  descriptor: Descriptor;
  inputs: JsonObject;
  mode: 'execution' | 'planning';
  timeout_ms?: number | undefined;
  actor: { name: string; roles: readonly Role[]; tenant: string };
  labels: Readonly<Record<string, string>>;
  session_id: string | null;
  spec_frozen?: boolean | null | undefined;
  spec_hash?: string | null | undefined;
  facts?: Facts | undefined;
};

/** What the call itself does not say. */
export type Facts = {
  /** How often its run has called this tool already. */
  calls_of_tool?: number | undefined;
  /** How long its run has been running. */
  run_elapsed_ms?: number | undefined;
  /** The hashes of specifications that were approved elsewhere: the plan of its run. */
  approved_specs?: readonly string[] | undefined;
};

/** A policy document made ready once. Pure, and never throws. */
export type CompiledPolicy = {
  policy_hash: string;
  decide(request: Request): Decision;
  /** The same decision, with every rule that was looked at. */
  explain(request: Request): Decision;
  /** Whether a decision about this tool can depend on its inputs. */
  readsInputs(descriptor: Descriptor): boolean;
};

/** What one document says of the call itself. */
export type Verdict = Pick<Decision, 'effect' | 'allowed' | 'reason' | 'rule_matched' | 'code' | 'approvals'>;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
const CONTROL = /[\u0000-\u001f\u007f]/g;

/** A reason may quote the inputs, and is stored: short, on one line, and nothing that Postgres refuses. */
export const storable = (text: string): string => text.slice(0, 1000).toWellFormed().replace(CONTROL, '\ufffd');

export const deny = (code: string, reason: string, rule_matched: string | null): Verdict => ({
  effect: 'deny',
  allowed: false,
  reason: storable(reason),
  rule_matched,
  code,
});

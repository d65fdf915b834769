import type { Decision, Descriptor, JsonObject, Role } from '@capstan/contracts';

/** The owner of a document: the tenant, whose policy allows calls, or the installation, which limits what tenants can allow. */
export type Part = 'tenant' | 'installation';

/** A call to decide on. */
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

/** Facts that are not part of the call itself. */
export type Facts = {
  /** How many times its run has called this tool before. */
  calls_of_tool?: number | undefined;
  /** How long its run has been running. */
  run_elapsed_ms?: number | undefined;
  /** Hashes of specifications that were approved elsewhere, by the plan of its run. */
  approved_specs?: readonly string[] | undefined;
};

/** A compiled policy document. Pure; its methods never throw. */
export type CompiledPolicy = {
  policy_hash: string;
  decide(request: Request): Decision;
  /** The same decision, with every rule that was evaluated. */
  explain(request: Request): Decision;
  /** True if a decision about this tool can depend on its inputs. */
  readsInputs(descriptor: Descriptor): boolean;
};

/** The verdict of one document on a call. */
export type Verdict = Pick<Decision, 'effect' | 'allowed' | 'reason' | 'rule_matched' | 'code' | 'approvals'>;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
const CONTROL = /[\u0000-\u001f\u007f]/g;

/** Makes a reason safe to store: short, on one line, and without characters that Postgres refuses. Reasons may quote inputs. */
const storable = (text: string): string => text.slice(0, 1000).toWellFormed().replace(CONTROL, '\ufffd');

export const deny = (code: string, reason: string, rule_matched: string | null): Verdict => ({
  effect: 'deny',
  allowed: false,
  reason: storable(reason),
  rule_matched,
  code,
});

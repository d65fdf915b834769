import type { Decision, JsonObject } from '@capstan/contracts';
import { nameOf } from './constraint/tool-entries.js';

export type Denied = { tool_id: string; inputs: JsonObject; decision: Pick<Decision, 'code' | 'rule_matched'> };

const HOW = 'Then put it in force: capstan policy put <file>.';

/** What to change so that a call that was denied is allowed. Null for one that was not. */
export function suggestFor({ tool_id, inputs, decision }: Denied): string | null {
  const { code, rule_matched } = decision;
  switch (code) {
    case null:
      return null;
    case 'HELD':
      return 'It waits for a person: capstan holds, then capstan release <hold_id>.';
    case 'NO_RULE':
      return `Add this to the policy (capstan policy get shows it):\n${snippetFor(tool_id, inputs)}\n${HOW}`;
    case 'TRUST_INSUFFICIENT':
      return 'Use a tool of a more trusted source, or lower trust_min in the policy if this one deserves it.';
    case 'CONSTRAINT':
      return `Change the call, or ${rule_matched} under the tool's entry in the policy's tools or limits. ${HOW}`;
    case 'RULE_ERROR':
      return `Correct the condition of rule ${rule_matched}: a field that may be missing is asked for with has(inputs.field) first.`;
    case 'PLANNING_MODE':
      return 'Submit it with mode: execution, or plan with tools that only read.';
    case 'SPEC_NOT_FROZEN':
      return 'Freeze the specification, and submit with spec_frozen: true and its spec_hash.';
    case 'SPEC_HASH_MISMATCH':
      return `Have the specification approved: add its hash to approved_specs in the policy. ${HOW}`;
    case 'CALLS_EXCEEDED':
    case 'RUN_TIMEOUT':
      return `Split the work into several runs, or raise ${rule_matched} in the policy.`;
    case 'POLICY_ERROR':
      return 'Look at the document with capstan policy get, and put a correct one.';
    default:
      return `Change ${rule_matched ?? 'the rule'} in the policy, if this call should be allowed. ${HOW}`;
  }
}

/** YAML that is ready to be pasted. */
function snippetFor(tool_id: string, inputs: JsonObject): string {
  switch (nameOf(tool_id)) {
    case 'shell.run':
      return `tools:\n  shell.run:\n    allow_executables: [${quoted(programOf(inputs))}]`;
    case 'fs.read':
    case 'fs.write':
      return `tools:\n  ${nameOf(tool_id)}:\n    allow_paths: ["./**"]\n    deny_paths: ["**/.env"]`;
    case 'http.get':
      return `tools:\n  http.get:\n    allow_domains: [${quoted(hostOf(inputs))}]`;
    default:
      if (hasUrl(inputs)) return `tools:\n  ${quoted(tool_id)}:\n    allow_domains: [${quoted(hostOf(inputs))}]`;
      return `rules:\n  - id: ${ruleId(tool_id)}\n    effect: allow\n    match: { tool: ${quoted(tool_id)} }`;
  }
}

const programOf = ({ cmd }: JsonObject): string => {
  const first = Array.isArray(cmd) ? cmd[0] : undefined;
  return typeof first === 'string' && first !== '' ? first : 'echo';
};

/** What connects is better allowed for a domain than for all of them. */
const hasUrl = ({ url }: JsonObject): boolean => typeof url === 'string' && URL.canParse(url);

const hostOf = ({ url }: JsonObject): string =>
  typeof url === 'string' && URL.canParse(url) ? new URL(url).hostname : 'example.com';

const ruleId = (tool_id: string) => `allow-${tool_id.replace(/[^a-z0-9]+/gi, '-').slice(0, 100)}`;
/** JSON is YAML. */
const quoted = (text: string) => JSON.stringify(text);

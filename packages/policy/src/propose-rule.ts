import type { JsonObject, PolicyDocument, PolicyRule } from '@capstan/contracts';
import { isWildcard } from '@capstan/contracts';
import { hashJson } from '@capstan/integrity';
import { isSeq, parseDocument, stringify } from 'yaml';

/** Calls of one tool by one actor with certain inputs. */
export type RuleScope = {
  tenant: string;
  tool_id: string;
  actor: string;
  mode: 'execution' | 'planning';
  /** Inputs that must be equal. */
  inputs: JsonObject;
  /** True if there may be no other inputs. */
  exact: boolean;
  /** The rules and gates that the proposed rule accepts. */
  holds: readonly string[];
};

/** Proposes an allow rule for exactly the calls of this scope. Its id describes its purpose and is unique in the document. */
export function proposeRule(document: PolicyDocument, scope: RuleScope, reason: string): PolicyRule {
  const { tenant, tool_id, actor, mode, holds } = scope;
  // A star in the actor's name would act as a wildcard.
  const open = isWildcard(actor);
  const conditions = [...(open ? [`actor.name == ${JSON.stringify(actor)}`] : []), ...inputConditions(scope)];
  const rule = {
    effect: 'allow',
    match: { tool: tool_id, tenant, mode, ...(open ? {} : { actor }) },
    ...(conditions.length > 0 ? { if: conditions.join(' && ') } : {}),
    accepts: [...holds],
    reason,
  } satisfies Omit<PolicyRule, 'id'>;
  return { id: newId(document, `accept-${slug(tool_id)}-${hashJson(rule).slice(-6)}`), ...rule };
}

/** JSON is valid CEL. A missing input must make the condition false; an error would deny the call. */
function inputConditions({ inputs, exact }: RuleScope): string[] {
  if (exact) return [`inputs == ${JSON.stringify(inputs)}`];
  return Object.entries(inputs).map(([name, value]) => {
    const key = JSON.stringify(name);
    return `${key} in inputs && inputs[${key}] == ${JSON.stringify(value)}`;
  });
}

const slug = (text: string): string => text.replace(/[^a-z0-9]+/gi, '-').slice(0, 80);

function newId({ rules = [] }: PolicyDocument, wanted: string): string {
  const taken = new Set(rules.map(({ id }) => id));
  let id = wanted;
  for (let count = 2; taken.has(id); count += 1) id = `${wanted}-${count}`;
  return id;
}

const AS_WRITTEN = { lineWidth: 120 };

/** Adds a rule to the text of a policy. Everything else keeps its formatting and comments. */
export function withRule(text: string, rule: object): string {
  const document = parseDocument(text);
  const node = document.createNode(rule);
  if (isSeq(document.get('rules'))) document.addIn(['rules'], node);
  else document.set('rules', document.createNode([node]));
  return document.toString(AS_WRITTEN);
}

/** Formats a rule as a list item. */
export const formatRule = (rule: PolicyRule): string => stringify([rule], AS_WRITTEN);

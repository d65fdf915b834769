import type { PolicyRule, Risk } from '@capstan/contracts';
import { isSeq, parseDocument } from 'yaml';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';
import { currentPolicy, type PolicyBase } from './put-policy.js';

export const EFFECTS = ['allow', 'hold', 'forbid'] as const satisfies PolicyRule['effect'][];

export type RuleOptions = {
  effect: PolicyRule['effect'];
  tool: string[];
  riskMax?: Risk;
  riskMin?: Risk;
  actor?: string[];
  if?: string;
  approvals?: number;
  reason?: string;
};

/** The current policy with one more rule. The rest of the text is unchanged, including comments. */
export const addRule = async (
  session: Session,
  name: string,
  id: string,
  options: RuleOptions,
): Promise<{ document: string; base: PolicyBase | undefined }> => {
  if (options.approvals !== undefined && options.effect !== 'hold')
    throw new UsageError('--approvals needs --effect hold');
  const base = (await currentPolicy(session, name)) ?? undefined;
  const document = parseDocument(base?.text ?? 'version: "1.0"\n');
  const rule = document.createNode(toRule(id, options));
  if (isSeq(document.get('rules'))) document.addIn(['rules'], rule);
  else document.set('rules', document.createNode([rule]));
  return { document: document.toString({ lineWidth: 120 }), base };
};

const toRule = (id: string, { effect, tool, riskMax, riskMin, actor, ...options }: RuleOptions): object => ({
  id,
  effect,
  match: {
    tool: oneOrMany(tool),
    ...(riskMax === undefined ? {} : { risk_max: riskMax }),
    ...(riskMin === undefined ? {} : { risk_min: riskMin }),
    ...(actor === undefined ? {} : { actor: oneOrMany(actor) }),
  },
  ...(options.if === undefined ? {} : { if: options.if }),
  ...(options.approvals === undefined ? {} : { approvals: { required: options.approvals } }),
  ...(options.reason === undefined ? {} : { reason: options.reason }),
});

const oneOrMany = (values: string[]): string | string[] => (values.length === 1 ? (values[0] ?? '') : values);

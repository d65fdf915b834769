import type { PolicyRule, Risk } from '@capstan/contracts';
import { isSeq, parseDocument } from 'yaml';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';
import { currentPolicy } from './put-policy.js';

export const EFFECTS = ['allow', 'hold', 'forbid'] as const satisfies PolicyRule['effect'][];
export const RISKS = ['LOW', 'MED', 'HIGH', 'CRITICAL'] as const satisfies Risk[];

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

/** The version in force with one more rule. The rest of the text stays as it is, with its comments. */
export const addRule = async (session: Session, name: string, id: string, options: RuleOptions): Promise<string> => {
  if (options.approvals !== undefined && options.effect !== 'hold')
    throw new UsageError('--approvals is for a rule that holds', 'Add --effect hold.');
  const document = parseDocument((await currentPolicy(session, name)) ?? 'version: "1.0"\n');
  const rule = document.createNode(toRule(id, options));
  if (isSeq(document.get('rules'))) document.addIn(['rules'], rule);
  else document.set('rules', document.createNode([rule]));
  return document.toString({ lineWidth: 120 });
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

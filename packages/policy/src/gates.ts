import {
  type Approvals,
  type Descriptor,
  type EffectGates,
  type PolicyDocument,
  type PolicyMatch,
  type PolicyRule,
  Risk,
  type RiskGate,
} from '@capstan/contracts';
import { isTrusted } from './compile-match.js';
import { hasAllowList, type ToolEntry } from './constraint/tool-entries.js';
import { deny, type Part, type Request, type Verdict } from './request.js';

/** A reason to hold a call even though a rule allows it. */
export type Hold = { rule: string; reason: string; approvals?: Approvals | undefined };

const DEFAULT_GATES: Record<Risk, RiskGate> = {
  LOW: { effect: 'allow' },
  MED: { effect: 'allow' },
  HIGH: { effect: 'hold', approvals: { required: 1 } },
  CRITICAL: { effect: 'hold', approvals: { required: 1, roles: ['admin'] }, require_spec_frozen: true },
};

/**
 * The gate of a tool's risk level. It applies whatever the rules allow, and only the document's own `risk` changes it, field by field. There are two
 * exceptions. A tool that `tools` names with a list of what it may access has passed the default gate of HIGH, so that policies written for Capsule
 * keep their meaning. And a rule that names the tool and its risk has accepted that risk (`acceptsRisk`).
 */
export function riskGate(
  { risk = {} }: PolicyDocument,
  { risk: level }: Descriptor,
  entries: ToolEntry[],
  part: Part,
): RiskGate {
  const own = risk[level];
  if (part === 'installation') return own ?? {};
  const named = entries.find(({ names_it }) => names_it);
  if (!own && level === 'HIGH' && named && hasAllowList(named)) return {};
  return { ...DEFAULT_GATES[level], ...own };
}

/** True if the document does not configure this gate. */
export const isDefaultGate = ({ risk = {} }: PolicyDocument, { risk: level }: Descriptor, part: Part): boolean =>
  part === 'tenant' && risk[level] === undefined;

/** True for an allow rule that names both tools and the risk they may have: its author has accepted that risk. */
export function acceptsRisk({ effect, match = {} }: PolicyRule, { risk }: Descriptor): boolean {
  const { tool, risk_max } = match;
  if (effect !== 'allow' || tool === undefined || risk_max === undefined) return false;
  const names = (Array.isArray(tool) ? tool : [tool]).every((each) => !/^[*?]+$/.test(each));
  return names && Risk.options.indexOf(risk_max) >= Risk.options.indexOf(risk);
}

/** Null if the gate lets the call pass. */
export function checkGate(gate: RiskGate, approved: readonly string[], request: Request): Verdict | null {
  const { risk } = request.descriptor;
  if (gate.effect === 'forbid') return deny('RISK_FORBIDDEN', `calls of risk ${risk} are forbidden`, `risk.${risk}`);
  return gate.require_spec_frozen ? checkSpec(approved, request) : null;
}

function checkSpec(approved: readonly string[], request: Request): Verdict | null {
  const { descriptor, spec_frozen, spec_hash, facts } = request;
  const rule = `risk.${descriptor.risk}.require_spec_frozen`;
  if (!spec_frozen || !spec_hash)
    return deny('SPEC_NOT_FROZEN', `a call of risk ${descriptor.risk} needs a frozen specification and its hash`, rule);
  if (approved.includes(spec_hash) || facts?.approved_specs?.includes(spec_hash)) return null;
  return deny('SPEC_HASH_MISMATCH', 'the specification is not one that was approved', rule);
}

/** The server's own text is left out: the caller may be a model, and the text may be an attack on it. */
export const changeHold = ({ changed, origin }: Descriptor): Hold[] =>
  changed
    ? [
        {
          rule: 'tool.changed',
          reason:
            `its server has changed the tool since it was taken (${changed.fields.join(', ')}): ` +
            `look with capstan mcp changes ${origin}, take it with capstan mcp accept ${origin}, or release this call alone`,
        },
      ]
    : [];

export const gateHold = (gate: RiskGate, { risk }: Descriptor): Hold[] =>
  gate.effect === 'hold'
    ? [{ rule: `risk.${risk}`, reason: `calls of risk ${risk} need a person's consent`, approvals: gate.approvals }]
    : [];

type Gated = { name: keyof EffectGates; code: string; has(descriptor: Descriptor): boolean; says: string };

const EFFECTS: Gated[] = [
  { name: 'destructive', code: 'DESTRUCTIVE_BLOCKED', has: ({ effects }) => effects.destructive, says: 'destroys' },
  {
    name: 'non_reversible',
    code: 'NON_REVERSIBLE_BLOCKED',
    has: ({ effects }) => !effects.reversible,
    says: 'cannot be undone',
  },
  { name: 'billable', code: 'BILLABLE_BLOCKED', has: ({ effects }) => effects.billable, says: 'costs money' },
  { name: 'network', code: 'NETWORK_BLOCKED', has: ({ effects }) => effects.network, says: 'uses the network' },
  {
    name: 'filesystem_write',
    code: 'FILESYSTEM_WRITE_BLOCKED',
    has: ({ effects }) => effects.filesystem.write,
    says: 'writes files',
  },
  {
    name: 'filesystem_delete',
    code: 'FILESYSTEM_DELETE_BLOCKED',
    has: ({ effects }) => effects.filesystem.delete,
    says: 'deletes files',
  },
  {
    name: 'interactive',
    code: 'INTERACTIVE_BLOCKED',
    has: ({ effects }) => effects.interactive,
    says: 'asks a person',
  },
];

/** Checks a tool against the document's `effects`: returns a denial or holds. */
export function effectGates({ effects: gates = {} }: PolicyDocument, descriptor: Descriptor): Verdict | Hold[] {
  const present = EFFECTS.filter(({ has }) => has(descriptor));
  const blocked = present.find(({ name }) => gates[name] === 'forbid');
  if (blocked) return deny(blocked.code, `a tool that ${blocked.says} is forbidden`, `effects.${blocked.name}`);
  if (gates.trust_min && !isTrusted(descriptor.trust, gates.trust_min))
    return deny(
      'TRUST_INSUFFICIENT',
      `its trust is ${descriptor.trust}, below ${gates.trust_min}`,
      'effects.trust_min',
    );
  const cost = descriptor.effects.cost_units ?? (descriptor.effects.billable ? Infinity : 0);
  if (gates.max_cost_units !== undefined && cost > gates.max_cost_units)
    return deny('COST_EXCEEDED', costs(cost, gates.max_cost_units), 'effects.max_cost_units');
  return present
    .filter(({ name }) => gates[name] === 'hold')
    .map(({ name, says }) => ({ rule: `effects.${name}`, reason: `a tool that ${says} needs a person's consent` }));
}

const costs = (cost: number, max: number) =>
  Number.isFinite(cost) ? `it costs ${cost} units, more than ${max}` : `its cost is not known, and the limit is ${max}`;

/** The error code of a forbid rule that matches on effects. */
export function effectCode(match: PolicyMatch['effects']): string | null {
  if (!match) return null;
  const { filesystem } = match;
  if (match.destructive) return 'DESTRUCTIVE_BLOCKED';
  if (match.reversible === false) return 'NON_REVERSIBLE_BLOCKED';
  if (match.billable) return 'BILLABLE_BLOCKED';
  if (match.network) return 'NETWORK_BLOCKED';
  if (filesystem?.delete) return 'FILESYSTEM_DELETE_BLOCKED';
  if (filesystem?.write) return 'FILESYSTEM_WRITE_BLOCKED';
  return match.interactive ? 'INTERACTIVE_BLOCKED' : null;
}

const READS: ReadonlySet<string> = new Set(['fs.read', 'database.read', 'cloud.key_read', 'network.dns']);

/** Planning mode allows only tools that read. */
export const isReadOnly = ({ side_effects, effects }: Descriptor): boolean =>
  side_effects.every((effect) => READS.has(effect)) &&
  !effects.destructive &&
  !effects.billable &&
  !effects.filesystem.write &&
  !effects.filesystem.delete;

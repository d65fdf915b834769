import { type PolicyMatch, Risk, Trust, toolOfAlias } from '@capstan/contracts';
import { compileWildcards } from './glob/wildcard.js';
import type { Request } from './request.js';

/** A test of one field of a match. A fixed test depends on the tool alone, so its result is computed once for each tool. */
export type Test = {
  field: keyof PolicyMatch;
  fixed: boolean;
  holds(request: Request): boolean;
  /** Explains why it does not match. */
  why(request: Request): string;
};

type Maker<Field extends keyof PolicyMatch> = (wanted: NonNullable<PolicyMatch[Field]>) => Omit<Test, 'field'>;
type Make = { [Field in keyof Required<PolicyMatch>]: Maker<Field> };

export function compileMatch(match: PolicyMatch = {}): Test[] {
  return FIELDS.flatMap((field) => {
    const test = make(field, match);
    return test ? [{ field, ...test }] : [];
  });
}

const fixed = (holds: Test['holds'], why: Test['why']) => ({ fixed: true, holds, why });
const open = (holds: Test['holds'], why: Test['why']) => ({ fixed: false, holds, why });

const MAKE: Make = {
  tool: (wanted) => {
    const matches = compileWildcards(list(wanted).map(toolOfAlias));
    return fixed(
      ({ descriptor }) => matches(descriptor.tool_id),
      () => `the tool is not ${either(wanted)}`,
    );
  },
  runner: (wanted) =>
    fixed(
      ({ descriptor }) => list(wanted).includes(descriptor.runner),
      ({ descriptor }) => `its runner is ${descriptor.runner}, not ${either(wanted)}`,
    ),
  source: (wanted) =>
    fixed(
      ({ descriptor }) => list(wanted).includes(descriptor.source),
      ({ descriptor }) => `its source is ${descriptor.source}, not ${either(wanted)}`,
    ),
  origin: (wanted) => {
    const matches = compileWildcards(list(wanted));
    return fixed(
      ({ descriptor }) => matches(descriptor.origin),
      ({ descriptor }) => `its origin is ${descriptor.origin}, not ${either(wanted)}`,
    );
  },
  risk_max: (wanted) =>
    fixed(
      ({ descriptor }) => riskOf(descriptor.risk) <= riskOf(wanted),
      ({ descriptor }) => `its risk is ${descriptor.risk}, above ${wanted}`,
    ),
  risk_min: (wanted) =>
    fixed(
      ({ descriptor }) => riskOf(descriptor.risk) >= riskOf(wanted),
      ({ descriptor }) => `its risk is ${descriptor.risk}, below ${wanted}`,
    ),
  side_effects_any: (wanted) =>
    fixed(
      ({ descriptor }) => wanted.some((effect) => descriptor.side_effects.includes(effect)),
      () => `it has none of the side effects ${wanted.join(', ')}`,
    ),
  side_effects_none: (wanted) =>
    fixed(
      ({ descriptor }) => !wanted.some((effect) => descriptor.side_effects.includes(effect)),
      ({ descriptor }) =>
        `it has the side effect ${wanted.filter((effect) => descriptor.side_effects.includes(effect)).join(', ')}`,
    ),
  effects: (wanted) =>
    fixed(
      ({ descriptor }) => differing(wanted, descriptor.effects).length === 0,
      ({ descriptor }) => `it is ${differing(wanted, descriptor.effects).join(', ')}`,
    ),
  trust_min: (wanted) =>
    fixed(
      ({ descriptor }) => isTrusted(descriptor.trust, wanted),
      ({ descriptor }) => `its trust is ${descriptor.trust}, below ${wanted}`,
    ),
  mode: (wanted) =>
    open(
      ({ mode }) => list(wanted).includes(mode),
      ({ mode }) => `the mode is ${mode}, not ${either(wanted)}`,
    ),
  actor: (wanted) => {
    const matches = compileWildcards(list(wanted));
    return open(
      ({ actor }) => matches(actor.name),
      ({ actor }) => `the actor is ${actor.name}, not ${either(wanted)}`,
    );
  },
  roles: (wanted) =>
    open(
      ({ actor }) => list(wanted).some((role) => actor.roles.includes(role)),
      ({ actor }) => `${actor.name} has no role of ${list(wanted).join(', ')}`,
    ),
  tenant: (wanted) => {
    const matches = compileWildcards(list(wanted));
    return open(
      ({ actor }) => matches(actor.tenant),
      ({ actor }) => `the tenant is ${actor.tenant}, not ${either(wanted)}`,
    );
  },
  labels: (wanted) => {
    const pairs = Object.entries(wanted).map(([name, values]) => [name, list(values)] as const);
    const missing = ({ labels }: Request) =>
      pairs.find(([name, values]) => !Object.hasOwn(labels, name) || !values.includes(labels[name] ?? ''));
    return open(
      (request) => missing(request) === undefined,
      (request) => {
        const [name, values] = missing(request) ?? ['', []];
        return `the label ${name} is ${request.labels[name] ?? 'not set'}, not ${either(values)}`;
      },
    );
  },
};
const FIELDS = Object.keys(MAKE) as (keyof PolicyMatch)[];

/** Generic, so that the value of a field has the type that the test for this field expects. */
function make<Field extends keyof PolicyMatch>(field: Field, match: PolicyMatch): Omit<Test, 'field'> | null {
  const wanted = match[field];
  const maker: Maker<Field> = MAKE[field];
  return wanted === undefined ? null : maker(wanted);
}

export const isTrusted = (trust: Trust, min: Trust): boolean =>
  Trust.options.indexOf(trust) <= Trust.options.indexOf(min);

const list = <T>(value: T | readonly T[]): readonly T[] => (isList(value) ? value : [value]);
const isList = <T>(value: T | readonly T[]): value is readonly T[] => Array.isArray(value);
const either = (value: string | readonly string[]) => list(value).join(' or ');
const riskOf = (risk: Risk) => Risk.options.indexOf(risk);

/** Describes the effects that differ from those wanted, as in `not reversible`. */
function differing(wanted: object, has: object): string[] {
  const actual = new Map<string, unknown>(Object.entries(has));
  return Object.entries(wanted).flatMap(([name, value]) => {
    const own = actual.get(name);
    if (typeof value === 'object' && value !== null && typeof own === 'object' && own !== null)
      return differing(value, own).map((inner) => inner.replace(/^(not )?/, `$1${name}.`));
    return value === undefined || value === own ? [] : [own === true ? name : `not ${name}`];
  });
}

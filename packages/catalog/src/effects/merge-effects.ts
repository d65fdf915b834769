import { ALL_EFFECTS, type Effects } from '@capstan/contracts';

/** The effects that a source declares. All are optional. */
export type DeclaredEffects = { [Name in Exclude<keyof Effects, 'filesystem'>]?: Effects[Name] | undefined } & {
  filesystem?: { [Name in keyof Effects['filesystem']]?: boolean | undefined } | undefined;
};

/** For these, false is the dangerous value; for all others, true. */
const SAFE_WHEN_TRUE = ['idempotent', 'reversible'] as const;
const SAFE_WHEN_FALSE = ['destructive', 'network', 'subprocess', 'billable', 'interactive'] as const;
const FILE_EFFECTS = ['read', 'write', 'delete'] as const;

/**
 * Merges the declarations of one call at several levels (its tool, its command) conservatively: the more dangerous value
 * wins, and undeclared effects have the dangerous value.
 */
export function mergeEffects(...declared: DeclaredEffects[]): Effects {
  const worst = (name: (typeof SAFE_WHEN_TRUE | typeof SAFE_WHEN_FALSE)[number], dangerous: boolean): boolean => {
    const said = declared.flatMap((effects) => effects[name] ?? []);
    if (said.length === 0) return ALL_EFFECTS[name];
    return said.includes(dangerous) ? dangerous : !dangerous;
  };
  const onFiles = (name: (typeof FILE_EFFECTS)[number]): boolean => {
    const said = declared.flatMap((effects) => effects.filesystem?.[name] ?? []);
    return said.length === 0 ? ALL_EFFECTS.filesystem[name] : said.includes(true);
  };
  const costs = declared.flatMap((effects) => effects.cost_units ?? []);
  return {
    idempotent: worst('idempotent', false),
    destructive: worst('destructive', true),
    reversible: worst('reversible', false),
    network: worst('network', true),
    filesystem: { read: onFiles('read'), write: onFiles('write'), delete: onFiles('delete') },
    subprocess: worst('subprocess', true),
    billable: worst('billable', true),
    interactive: worst('interactive', true),
    ...(costs.length > 0 ? { cost_units: Math.max(...costs) } : {}),
  };
}

/** The names of effects that no declaration mentions. */
export function undeclaredEffects(...declared: DeclaredEffects[]): string[] {
  const names = [...SAFE_WHEN_TRUE, ...SAFE_WHEN_FALSE].filter(
    (name) => name !== 'interactive' && declared.every((effects) => effects[name] === undefined),
  );
  const files = FILE_EFFECTS.filter((name) => declared.every((effects) => effects.filesystem?.[name] === undefined));
  return [...names, ...files.map((name) => `filesystem.${name}`)];
}

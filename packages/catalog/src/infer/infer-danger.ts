import { type Descriptor, Risk, type SideEffect } from '@capstan/contracts';
import type { Clue } from './words.js';

export type Danger = Pick<Descriptor, 'risk' | 'side_effects' | 'inferred'>;

export type Declared = { risk?: Risk | undefined; side_effects?: SideEffect[] | undefined };

const DEFAULT_RISK: Risk = 'MED';

/** The stricter of two. */
export const stricter = (one: Risk, other: Risk): Risk =>
  Risk.options.indexOf(one) >= Risk.options.indexOf(other) ? one : other;

/**
 * Risk and side effects from declarations and clues. Declarations stand, except against a stricter clue that is not weak.
 * Everything that comes from clues is listed in `inferred`, with the clue.
 */
export function inferDanger(declared: Declared, clues: readonly Clue[]): Danger {
  const inferred: Descriptor['inferred'] = [];
  const ofRisk = declared.risk === undefined ? clues : clues.filter(({ weak }) => !weak);
  const risk = ofRisk.reduce((worst, clue) => stricter(worst, clue.risk), declared.risk ?? DEFAULT_RISK);
  if (declared.risk === undefined || risk !== declared.risk) {
    const clue = ofRisk.find((each) => each.risk === risk);
    inferred.push({ field: 'risk', why: `${risk}: ${clue?.why ?? 'nothing else is known of it'}` });
  }
  const side_effects = new Set(declared.side_effects);
  for (const { side_effect, why, weak } of clues) {
    if (side_effect === null || side_effects.has(side_effect)) continue;
    if (weak && declared.side_effects !== undefined) continue;
    side_effects.add(side_effect);
    inferred.push({ field: 'side_effects', why: `${side_effect}: ${why}` });
  }
  return { risk, side_effects: [...side_effects], inferred };
}

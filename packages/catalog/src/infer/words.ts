import type { Risk, SideEffect } from '@capstan/contracts';

export type Clue = { risk: Risk; side_effect: SideEffect | null; why: string };

type Meaning = { words: string[]; risk: Risk; side_effect: SideEffect | null };

/** What the words of a name or description give away. */
const MEANINGS: Meaning[] = [
  { words: ['write', 'writes', 'writing', 'overwrite', 'overwrites'], risk: 'HIGH', side_effect: 'fs.write' },
  { words: ['delete', 'deletes', 'deleting', 'destroy', 'destroys'], risk: 'HIGH', side_effect: 'fs.delete' },
  { words: ['exec', 'execute', 'executes', 'executing'], risk: 'HIGH', side_effect: 'system.exec' },
  { words: ['pay', 'payment', 'payments', 'refund', 'refunds'], risk: 'CRITICAL', side_effect: 'payments' },
  { words: ['cloud'], risk: 'CRITICAL', side_effect: 'cloud.resource_create' },
];

/** Words are compared whole: `rewritten` and `undeleted` say something else. */
export function cluesInWords(...texts: string[]): Clue[] {
  const found = new Set(
    texts
      .join(' ')
      // camelCase names have words too.
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .split(/[^a-z]+/),
  );
  return MEANINGS.flatMap(({ words, risk, side_effect }) => {
    const word = words.find((each) => found.has(each));
    return word === undefined ? [] : [{ risk, side_effect, why: `the word "${word}" in its name or description` }];
  });
}

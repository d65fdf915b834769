import type { Effects, Risk, SideEffect } from '@capstan/contracts';

export type Effect = { text: string; tone: 'red' | 'amber' | 'grey' | 'green' };

const SIDE_EFFECTS: Record<SideEffect, string> = {
  'fs.read': 'reads files',
  'fs.write': 'writes files',
  'fs.delete': 'deletes files',
  'fs.chmod': 'changes who may use files',
  'network.http': 'sends HTTP requests',
  'network.socket': 'opens network connections',
  'network.dns': 'looks up names on the network',
  'cloud.key_read': 'reads cloud credentials',
  'cloud.key_write': 'changes cloud credentials',
  'cloud.resource_create': 'creates cloud resources',
  'cloud.resource_delete': 'deletes cloud resources',
  payments: 'moves money',
  'system.exec': 'starts programs',
  'system.env': 'reads the environment',
  'database.read': 'reads a database',
  'database.write': 'writes to a database',
  'database.delete': 'deletes from a database',
};

export const sideEffectInWords = (name: string): string => SIDE_EFFECTS[name as SideEffect] ?? name;

/** The effects of a call in words, most severe first. */
export function effectsInWords({ filesystem, ...effects }: Effects): Effect[] {
  const all: [boolean, Effect['tone'], string][] = [
    [effects.destructive, 'red', 'It can destroy data.'],
    [!effects.reversible, 'red', 'It cannot be undone.'],
    [filesystem.delete, 'red', 'It may delete files.'],
    [effects.billable, 'amber', 'It may cost money.'],
    [filesystem.write, 'amber', 'It may write files.'],
    [effects.network, 'amber', 'It uses the network.'],
    [effects.subprocess, 'amber', 'It starts programs.'],
    [effects.interactive, 'amber', 'It asks questions while it runs.'],
    [!effects.idempotent, 'amber', 'It is not idempotent: if its worker is lost, a person has to resolve the call.'],
    [filesystem.read, 'grey', 'It may read files.'],
    [effects.idempotent, 'green', 'It is idempotent: running it again has no further effect.'],
    [effects.reversible && !effects.destructive, 'green', 'What it does can be undone.'],
  ];
  return all.filter(([holds]) => holds).map(([, tone, text]) => ({ text, tone }));
}

export const RISK_IN_WORDS: Record<Risk, string> = {
  LOW: 'Low risk: a mistake costs little.',
  MED: 'Medium risk: a mistake costs work to put right.',
  HIGH: 'High risk: a mistake can do lasting damage.',
  CRITICAL: 'Critical risk: a mistake can take the business down.',
};

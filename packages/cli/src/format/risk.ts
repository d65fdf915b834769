import type { Risk } from '@capstan/contracts';
import type { Colors } from '../output.js';

const PAINT: Record<Risk, 'green' | 'yellow' | 'red' | 'magenta'> = {
  LOW: 'green',
  MED: 'yellow',
  HIGH: 'red',
  CRITICAL: 'magenta',
};

export const formatRisk = (risk: Risk, text: string, colors: Colors): string => colors[PAINT[risk]](text);

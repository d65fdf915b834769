import type { DryRun, DryStep } from '@capstan/contracts';
import { EXIT, type ExitCode } from '../exit-code.js';
import { countOf } from '../format/count.js';
import type { Colors } from '../output.js';
import { printTable } from '../print-items.js';
import type { Session } from '../session.js';
import { nameOfStep } from './name-of-step.js';

const LOOK: Record<
  DryStep['effect'],
  readonly [icon: string, paint: keyof Pick<Colors, 'green' | 'yellow' | 'magenta' | 'red' | 'gray' | 'cyan'>]
> = {
  allow: ['✓', 'green'],
  hold: ['⏸', 'yellow'],
  deny: ['⊘', 'magenta'],
  unknown: ['?', 'cyan'],
  skip: ['–', 'gray'],
  invalid: ['✗', 'red'],
};

export const printDryRun = async (session: Session, dry: DryRun): Promise<ExitCode> => {
  const { colors } = session.out;
  if (session.json) await session.printJson(dry);
  else
    await printTable<DryStep>(session, dry.steps, {
      empty: 'The plan has no steps to run.',
      columns: [
        { title: 'STEP', text: nameOfStep },
        {
          title: 'DECISION',
          text: ({ effect }) => `${LOOK[effect][0]} ${effect}`,
          paint: (text, { effect }) => colors[LOOK[effect][1]](text),
        },
        { title: 'TOOL', text: ({ tool_id }) => tool_id },
        { title: 'WHY', text: ({ reason }) => reason, shrinks: true },
      ],
    });
  if (dry.left_out > 0)
    await session.err.line(session.err.colors.dim(`… and ${countOf(dry.left_out, 'element')} more in fan-outs`));
  const has = (effect: DryStep['effect']) => dry.steps.some((step) => step.effect === effect);
  if (has('invalid')) return EXIT.usage;
  if (has('deny')) return EXIT.denied;
  return has('hold') ? EXIT.held : EXIT.success;
};

import { structuredPatch } from 'diff';
import type { Colors } from '../output.js';

const CONTEXT_LINES = 3;

/** The changed lines with some context; empty if the texts are equal. */
export const formatDiff = (before: string, after: string, colors: Colors): string[] => {
  const { hunks } = structuredPatch('', '', before, after, '', '', { context: CONTEXT_LINES });
  return hunks.flatMap(({ oldStart, newStart, lines }) => [
    colors.cyan(`@@ line ${oldStart} → ${newStart} @@`),
    ...lines
      .filter((line) => !line.startsWith('\\'))
      .map((line) =>
        line.startsWith('+') ? colors.green(line) : line.startsWith('-') ? colors.red(line) : colors.dim(line),
      ),
  ]);
};

import type { ToolChanges } from '@capstan/contracts';
import { formatChanges } from './format/changes.js';
import { wrapProse } from './format/width.js';
import { printDone } from './print-done.js';
import type { Session } from './session.js';

type Added = { name: string; version: string; changes: ToolChanges; warnings: readonly string[] };

/** Reports a document that was added as a source of tools, with its warnings on stderr. */
export const printAdded = async (session: Session, added: Added): Promise<void> => {
  await printDone(session, added, `${added.name} ${added.version}: ${formatChanges(added.changes)}`);
  await printWarnings(session, added.warnings);
};

export const printWarnings = async ({ err }: Session, warnings: readonly string[]): Promise<void> => {
  for (const warning of warnings) await err.line(err.colors.yellow(`  ! ${wrapProse(warning, 4, err)}`));
};

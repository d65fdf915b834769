import type { ToolChanges } from '@capstan/contracts';

/** `3 tools added, 1 changed`. */
export const formatChanges = ({ added, changed, removed }: ToolChanges): string => {
  const parts = [
    added.length > 0 ? `${added.length} ${added.length === 1 ? 'tool' : 'tools'} added` : null,
    changed.length > 0 ? `${changed.length} changed` : null,
    removed.length > 0 ? `${removed.length} removed` : null,
  ].filter((part) => part !== null);
  return parts.join(', ') || 'nothing has changed';
};

import { X } from 'lucide-react';
import { useMemo } from 'react';
import { Status } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { type Column, DataTable } from '../../ui/data-table.js';
import { SafeText } from '../../ui/safe-text.js';
import { bySeverity, type Group } from './plan-steps.js';

const COLUMNS: Column<Group>[] = [
  { id: 'status', header: 'Status', width: '100px', cell: ({ status }) => <Status of={status} plain /> },
  {
    id: 'step',
    header: 'Step',
    width: 'minmax(0, 1fr)',
    cell: ({ title }) => (
      <strong>
        <SafeText text={title} />
      </strong>
    ),
  },
];
const idOf = ({ step_id }: Group): string => step_id;

type Props = { layer: number; groups: readonly Group[]; onSelect(step_id: string): void; onClose(): void };

/** The steps of a folded layer, those that need attention first. */
export function LayerPanel({ layer, groups, onSelect, onClose }: Props) {
  const rows = useMemo(() => groups.toSorted(bySeverity), [groups]);
  return (
    <aside className="layer-panel" aria-label={`Layer ${layer + 1}`}>
      <div className="step-panel-head">
        <h2 className="grow">Layer {layer + 1}</h2>
        <Button kind="ghost" size="small" icon={<X />} aria-label="Close the layer" onClick={onClose} />
      </div>
      <DataTable
        label={`Steps of layer ${layer + 1}`}
        of={layer}
        rows={rows}
        columns={COLUMNS}
        idOf={idOf}
        onOpen={({ step_id }) => onSelect(step_id)}
      />
    </aside>
  );
}

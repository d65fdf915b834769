import type { Run } from '@capstan/contracts';
import { Link } from '@tanstack/react-router';
import { Tag } from '../../ui/badge.js';

/** Shows that a run waits for a decision, with a link to it. */
export const WaitsForPerson = ({ run: { run_id, held_steps } }: { run: Run }) =>
  held_steps > 0 ? (
    <Link to="/approvals" search={{ run_id }} onClick={(event) => event.stopPropagation()}>
      <Tag tone="amber">{held_steps === 1 ? 'waits for a person' : `${held_steps} wait for a person`}</Tag>
    </Link>
  ) : null;

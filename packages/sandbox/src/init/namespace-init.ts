import { join } from 'node:path';
import { rlimitsOf } from '../resource-limits.js';
import type { Confined } from '../sandbox.js';
import { INITS } from '../system-view.js';
import type { Inits } from './open-inits.js';

/** The path, inside the sandbox, of the `init` that is pid 1 of a run's own pid namespace. */
export const namespaceInit = (inits: Inits, { limits, sockets, exec_once }: Confined): string =>
  join(
    INITS,
    inits.nameOf({
      tree: 'namespace',
      terminal: false,
      descriptors: 3,
      identity: null,
      limits: rlimitsOf(limits),
      filter: { sockets, exec_once },
      files: null,
    }),
  );

export { openCgroups } from './cgroup/open-cgroups.js';
export { type Containment, canContain, makeOwned, openContainment } from './containment.js';
export { findExecutable, isExecutable } from './find-executable.js';
export { type InitOrder, openInits } from './init/open-inits.js';
export { type Launched, Launcher } from './launch/launcher.js';
export type { Ending } from './launch/open-shell.js';
export { childrenOf, signalGroup } from './launch/processes.js';
export { fitsTerminal, MAX_LINE } from './launch/run-in-terminal.js';
export { killUntilGone } from './launch/signal-run.js';
export { openLoneTree, type TreeUse } from './launch/tree.js';
export { requireSandbox, type SandboxNeeds, sandboxNeeds } from './require-sandbox.js';
export { DEFAULT_LIMITS, type ResourceLimits, resourceLimits } from './resource-limits.js';
export {
  type Confined,
  factOf,
  type Identity,
  type Launch,
  type Mount,
  type Sandbox,
  type SandboxLevel,
} from './sandbox.js';
export { isVisible, type SystemPart } from './system-view.js';
export { defaultRange, reservedUser, type UserRange } from './tool-users.js';

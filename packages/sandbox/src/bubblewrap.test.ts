import { expect, test } from 'vitest';
import { createBubblewrap } from './bubblewrap.js';
import { DEFAULT_LIMITS } from './resource-limits.js';

const confined = {
  file: '/bin/true',
  args: [],
  env: {},
  secret_env: {},
  work: { source: '/work', path: '/work', writable: true },
  mounts: [],
  temporary: null,
  loopback: false,
  sockets: 'unix' as const,
  limits: DEFAULT_LIMITS,
  tty: false,
  exec_once: false,
};
const sandboxThat = (nests: boolean) =>
  createBubblewrap({
    bwrap: 'bwrap',
    prlimit: null,
    inits: null,
    system: [],
    identity: null,
    disable_userns: true,
    nests,
  });

test.each([
  { nests: true, network: 'own', makes: true },
  { nests: true, network: 'of_shell', makes: false },
  // The shell has no separate network namespace that could be shared.
  { nests: false, network: 'of_shell', makes: true },
] as const)(
  'with nests=$nests and network=$network, bubblewrap creates a network namespace for the run: $makes',
  ({ nests, network, makes }) => {
    const sandbox = sandboxThat(nests);
    expect(sandbox.launch({ ...confined, network }).args.includes('--unshare-net')).toBe(makes);
    expect(sandbox.around_shell.includes('--unshare-net')).toBe(nests);
  },
);

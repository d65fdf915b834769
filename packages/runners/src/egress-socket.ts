import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EgressProxyOptions, startEgressProxy } from '@capstan/egress';
import type { Identity, Mount } from '@capstan/sandbox';

/** The worker's end of a sandbox's network access: a Unix socket, and its path inside the sandbox. */
export type EgressSocket = { mount: Mount; socket: string; close(): Promise<void> };

const INSIDE = '/capstan/network';
const SOCKET = 'egress.sock';

/**
 * The socket gives access to what one tool was granted, so nobody else on the machine may connect to it. Its random name is no
 * protection, because everybody can list the system's temporary directory.
 */
export const openEgressSocket = async (
  identity: Identity,
  proxying: Omit<EgressProxyOptions, 'path'>,
): Promise<EgressSocket> => {
  // Not in the work directory, because the path of a socket is limited to about a hundred characters.
  const directory = await mkdtemp(join(tmpdir(), 'capstan-net-'));
  const path = join(directory, SOCKET);
  const proxy = await startEgressProxy({ ...proxying, path });
  if (identity) for (const each of [path, directory]) await chown(each, identity.uid, identity.gid);
  return {
    mount: { source: directory, path: INSIDE },
    socket: join(INSIDE, SOCKET),
    close: async () => {
      await proxy.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
};

import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EgressProxyOptions, startEgressProxy } from '@capstan/egress';
import type { Identity, Mount } from './sandbox.js';

/** The worker's end of the way out of a sandbox: a socket, and where it is inside. */
export type EgressSocket = { mount: Mount; socket: string; close(): Promise<void> };

const INSIDE = '/capstan/network';
const SOCKET = 'egress.sock';

/**
 * Behind the socket is what one tool was granted, so nobody else on the machine may reach it. Everybody can list the
 * system's temporary directory: that its name is random hides nothing.
 */
export const openEgressSocket = async (
  identity: Identity,
  proxying: Omit<EgressProxyOptions, 'path'>,
): Promise<EgressSocket> => {
  // A socket's path may have about a hundred characters, so it is not made in the work directory.
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

import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Egress, type EgressRules, startEgressProxy } from '@capstan/egress';
import { BRIDGE } from '../exec/network-access.js';
import type { Mount } from '../sandbox/sandbox.js';
import { findProgram } from './program-mounts.js';

/** The way out of a server's sandbox: a bridge inside, and the guard in the worker. */
export type ServerNetwork = { mounts: Mount[]; command: string[]; close(): Promise<void> };

const INSIDE = '/capstan/network';
const SOCKET = 'egress.sock';

export type Way = {
  egress: Egress;
  /** Those of the calls that share this server; without any, all public addresses. */
  rules: EgressRules;
  onDomain(hostname: string): void;
};

/** A program is no exception to what the guard refuses. */
export async function openServerNetwork(way: Way, path: string): Promise<ServerNetwork> {
  const node = findProgram('node', path);
  // A socket's path may have about a hundred characters, so it is not made in the work directory.
  const directory = await mkdtemp(join(tmpdir(), 'capstan-mcp-'));
  const socket = join(directory, SOCKET);
  const proxy = await startEgressProxy({ ...way, path: socket });
  // The server's user is not the worker's where that is root; nobody else knows the directory's name.
  await chmod(directory, 0o711);
  await chmod(socket, 0o666);
  return {
    mounts: [{ source: directory, path: INSIDE }],
    command: [node, '-e', BRIDGE, join(INSIDE, SOCKET)],
    close: async () => {
      await proxy.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

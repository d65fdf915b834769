import type { Egress, EgressRules } from '@capstan/egress';
import { BRIDGE } from '../exec/network-access.js';
import { openEgressSocket } from '../sandbox/egress-socket.js';
import type { Identity, Mount } from '../sandbox/sandbox.js';
import { findProgram } from './program-mounts.js';

/** The way out of a server's sandbox: a bridge inside, and the guard in the worker. */
export type ServerNetwork = { mounts: Mount[]; command: string[]; close(): Promise<void> };

export type Way = {
  egress: Egress;
  /** Those of the calls that share this server; without any, all public addresses. */
  rules: EgressRules;
  onDomain(hostname: string): void;
};

/** A program is no exception to what the guard refuses. */
export async function openServerNetwork(way: Way, identity: Identity, path: string): Promise<ServerNetwork> {
  const node = findProgram('node', path);
  const { mount, socket, close } = await openEgressSocket(identity, way);
  return { mounts: [mount], command: [node, '-e', BRIDGE, socket], close };
}

import type { PeerName } from '../subject.js';
import { bullmq } from './bullmq.js';
import { graphile } from './graphile.js';
import type { Peer } from './peer.js';
import { pgboss } from './pgboss.js';

const PEER: Record<PeerName, Peer> = { bullmq, graphile, pgboss };

/** The one that a process was started for. */
export function peerNamed(name: string | undefined): Peer {
  const found = Object.entries(PEER).find(([known]) => known === name);
  if (found === undefined) throw new Error(`there is no peer called «${name}»`);
  return found[1];
}

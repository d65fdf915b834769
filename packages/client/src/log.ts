import { buffer, text } from 'node:stream/consumers';
import type { ConsistencyProof, LogProof } from '@capstan/contracts';
import type { Transport } from './transport.js';

type Signal = { signal?: AbortSignal | undefined };

/** The log of the key's tenant: every call and every run that has ended, as a Merkle tree. */
export type Log = {
  /** The newest checkpoint, as it was signed. */
  checkpoint(options?: Signal): Promise<string>;
  /** A tile by its path, as `tilePath` of @capstan/integrity writes it. */
  tile(path: string, options?: Signal): Promise<Buffer>;
  /** Where a call or a run is in the log, proven against the newest checkpoint. */
  prove(id: string, options?: Signal): Promise<LogProof>;
  /** That the log of `to` entries (the newest by default) begins with that of `from`. */
  consistency(from: number, to?: number, options?: Signal): Promise<ConsistencyProof>;
};

export const log = (transport: Transport): Log => {
  const read = async (path: string, { signal }: Signal) => {
    const body = await transport.stream(path, { signal });
    if (body === null) throw new Error(`${path} answered nothing`);
    return body;
  };
  return {
    checkpoint: async (options = {}) => text(await read('/v1/log/checkpoint', options)),
    tile: async (path, options = {}) => buffer(await read(`/v1/log/${path}`, options)),
    prove: (id, { signal } = {}) => transport.json('GET', `/v1/log/proofs/${encodeURIComponent(id)}`, { signal }),
    consistency: (from, to, { signal } = {}) =>
      transport.json('GET', '/v1/log/consistency', { query: { from, to }, signal }),
  };
};

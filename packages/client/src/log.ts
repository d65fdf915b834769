import { buffer, text } from 'node:stream/consumers';
import type { ConsistencyProof, LogProof } from '@capstan/contracts';
import type { Transport } from './transport.js';

type Signal = { signal?: AbortSignal | undefined };

/** The log of the key's tenant: all ended calls and runs, as a Merkle tree. */
export type Log = {
  /** The newest signed checkpoint. */
  checkpoint(options?: Signal): Promise<string>;
  /** A tile by its path, as `tilePath` of @capstan/integrity writes it. */
  tile(path: string, options?: Signal): Promise<Buffer>;
  /** Proves that a call or run is in the log of the newest checkpoint. */
  prove(id: string, options?: Signal): Promise<LogProof>;
  /** Proves that the log with `to` entries (by default the newest) begins with the log of `from` entries. */
  consistency(from: number, to?: number, options?: Signal): Promise<ConsistencyProof>;
};

export const log = (transport: Transport): Log => {
  const read = async (path: string, { signal }: Signal) => {
    const body = await transport.stream(path, { signal });
    if (body === null) throw new Error(`${path} returned no content`);
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

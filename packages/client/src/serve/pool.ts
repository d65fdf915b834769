import { Readable } from 'node:stream';
import type {
  Artifact,
  NewPoolTools,
  PoolArtifact,
  PoolBeat,
  PoolBeaten,
  PoolClaim,
  PoolClaimed,
  PoolLogs,
  PoolSecret,
  PoolSettled,
  PoolSettlement,
  PoolTools,
} from '@capstan/contracts';
import type { Transport } from '../transport.js';

type Signal = { signal?: AbortSignal | undefined };

/** The protocol of workers in users' own processes. */
export type PoolProtocol = {
  declare(tools: NewPoolTools): Promise<PoolTools>;
  claim(claim: PoolClaim, options?: Signal): Promise<PoolClaimed>;
  beat(beat: PoolBeat, options?: Signal): Promise<PoolBeaten>;
  settle(settlement: PoolSettlement): Promise<PoolSettled>;
  log(logs: PoolLogs): Promise<void>;
  keep(artifact: PoolArtifact, content: string | Uint8Array, media_type: string): Promise<Artifact>;
  secret(asked: PoolSecret): Promise<{ value: string }>;
};

export const openPool = (transport: Transport, pool: string): PoolProtocol => {
  const at = (what: string) => `/v1/pools/${encodeURIComponent(pool)}/${what}`;
  return {
    declare: (body) => transport.json('PUT', at('tools'), { body }),
    claim: (body, { signal } = {}) => transport.json('POST', at('claim'), { body, signal, wait_s: body.wait_s }),
    beat: (body, { signal } = {}) => transport.json('POST', at('beat'), { body, signal, wait_s: body.wait_s }),
    settle: (body) => transport.json('POST', at('settle'), { body }),
    log: (body) => transport.json('POST', at('logs'), { body }),
    keep: ({ attempt, ...artifact }, content, type) =>
      transport.json('PUT', at('artifacts'), {
        query: { ...artifact, attempt: String(attempt) },
        text: { content: Readable.from([typeof content === 'string' ? Buffer.from(content) : content]), type },
      }),
    secret: (body) => transport.json('POST', at('secrets'), { body }),
  };
};

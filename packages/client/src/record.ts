import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type {
  ImportedBundle,
  ReplayAnswer,
  ReplayRequestInput,
  Report,
  StepDifference,
  Verification,
  VerifyLine,
} from '@capstan/contracts';
import { splitLines } from './event-stream/split-lines.js';
import { listFrom } from './list-from.js';
import type { Listing, PageOptions } from './listing.js';
import { fromGateway } from './read-json.js';
import type { Transport } from './transport.js';

type Signal = { signal?: AbortSignal | undefined };

export type Records = {
  /** Verifies an ended run by recomputing every hash. */
  verify(run_id: string, options?: Signal): Promise<Verification>;
  /** Like `verify`, as a stream of progress with the verdict at the end. */
  verifyLines(run_id: string, options?: Signal): AsyncIterable<VerifyLine>;
  /** Exports a run as one file that can be verified offline. */
  bundle(run_id: string, options?: Signal): Promise<Readable>;
  importBundle(content: string | Readable): Promise<ImportedBundle>;
  replay(run_id: string, request?: ReplayRequestInput): Promise<ReplayAnswer>;
  replayBundle(bundle_id: string): Promise<ReplayAnswer>;
  /** The differences after a replay with re_execute, call by call. */
  differences(run_id: string, options?: PageOptions): Listing<StepDifference>;
  report(run_id: string, options?: Signal): Promise<Report>;
  reportText(run_id: string, format: 'text' | 'html', options?: Signal): Promise<string>;
};

/** Verifying a long record takes a while before the response starts. */
const LOOK_S = 600;

export const records = (transport: Transport): Records => {
  const at = (run_id: string, what: string): string => `/v1/runs/${encodeURIComponent(run_id)}/${what}`;
  const stream = async (path: string, options: Parameters<Transport['stream']>[1]): Promise<Readable> => {
    const body = await transport.stream(path, options);
    if (body === null) throw new Error(`${path} returned no content`);
    return body;
  };
  return {
    verify: (run_id, { signal } = {}) => transport.json('GET', at(run_id, 'verify'), { signal, wait_s: LOOK_S }),
    async *verifyLines(run_id, { signal } = {}) {
      const body = await stream(at(run_id, 'verify'), { headers: { accept: 'application/x-ndjson' }, signal });
      for await (const line of splitLines(body)) if (line !== '') yield fromGateway<VerifyLine>(line);
    },
    bundle: (run_id, { signal } = {}) => stream(at(run_id, 'bundle'), { signal, wait_s: LOOK_S }),
    importBundle: (content) =>
      transport.json('POST', '/v1/bundles', { text: { content, type: 'application/x-ndjson' }, wait_s: LOOK_S }),
    replay: (run_id, request = {}) => transport.json('POST', at(run_id, 'replay'), { body: request, wait_s: LOOK_S }),
    replayBundle: (bundle_id) =>
      transport.json('POST', `/v1/bundles/${encodeURIComponent(bundle_id)}/replay`, { body: {}, wait_s: LOOK_S }),
    differences: (run_id, options = {}) => listFrom(transport, at(run_id, 'differences'), { ...options }),
    report: (run_id, { signal } = {}) => transport.json('GET', at(run_id, 'report'), { signal, wait_s: LOOK_S }),
    reportText: async (run_id, format, { signal } = {}) =>
      text(await stream(at(run_id, 'report'), { query: { format }, signal, wait_s: LOOK_S })),
  };
};

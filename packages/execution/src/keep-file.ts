import type { Store } from '@capstan/store';
import { type ArtifactStorage, keepArtifact } from '@capstan/store/artifact';
import { storableText } from './storable.js';
import type { WorkerContext } from './worker-context.js';

/** Stores the files of a run as they arrive, before the result that refers to them. */
export const createKeeper =
  (store: Store, storage: ArtifactStorage): WorkerContext['keep'] =>
  ({ tenant, invocation_id, attempt }, { name, media_type, content }) =>
    keepArtifact(store, storage, { tenant, invocation_id, attempt }, { name: storableText(name), media_type, content });

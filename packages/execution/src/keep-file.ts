import { type ArtifactStorage, keepArtifact, type Store } from '@capstan/store';
import { storableText } from './storable.js';
import type { WorkerContext } from './worker-context.js';

/** What a run leaves is kept as it arrives, before the result that names it. */
export const createKeeper =
  (store: Store, storage: ArtifactStorage): WorkerContext['keep'] =>
  ({ tenant, invocation_id }, { name, media_type, content }) =>
    keepArtifact(store, storage, { tenant, invocation_id }, { name: storableText(name), media_type, content });

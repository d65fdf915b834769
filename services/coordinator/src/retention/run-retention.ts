import type { Backbone } from '@capstan/backbone';
import type { KeptFor } from '@capstan/contracts';
import { type ArtifactStorage, artifactStorage } from '@capstan/store';
import { repeat } from '../repeat.js';
import { forgetOld } from './forget-old.js';

const HOUR_MS = 3_600_000;

/** Every hour, and when somebody changes what is kept. */
export function runRetention(
  backbone: Backbone,
  installation: KeptFor,
  artifacts: ArtifactStorage = artifactStorage(null),
): { stop(): Promise<void> } {
  const { relay, log } = backbone;
  const duty = repeat(
    log,
    'retention',
    () => forgetOld(backbone, installation, artifacts),
    () => Promise.resolve(HOUR_MS),
  );
  const unsubscribe = relay.subscribe('due', (ids) => ids.includes('retention') && duty.wake());
  return {
    stop: async () => {
      unsubscribe();
      await duty.stop();
    },
  };
}

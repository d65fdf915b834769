import type { Backbone } from '@capstan/backbone';
import { HOUR_MS, type KeptFor } from '@capstan/contracts';
import { type ArtifactStorage, artifactStorage } from '@capstan/store/artifact';
import { repeat } from '../repeat.js';
import { forgetOld, newForgetting } from './forget-old.js';

/** Applies retention every hour, and when its settings change. */
export function runRetention(
  backbone: Backbone,
  installation: KeptFor,
  artifacts: ArtifactStorage = artifactStorage(null),
): { stop(): Promise<void> } {
  const { relay, log } = backbone;
  const forgetting = newForgetting();
  const duty = repeat(
    log,
    'retention',
    () => forgetOld(backbone, installation, artifacts, forgetting),
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

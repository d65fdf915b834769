import type { Backbone } from '@capstan/backbone';
import { startCoordinator } from '@capstan/coordinator';
import { onTestFinished } from 'vitest';

/** Feeds the queue with calls that wait in Postgres, and redelivers lost ones, until the end of the test. */
export function startTestCoordinator(backbone: Backbone): void {
  const coordinator = startCoordinator(backbone, { sweep_ms: 200, retention: {} });
  onTestFinished(() => coordinator.stop());
}

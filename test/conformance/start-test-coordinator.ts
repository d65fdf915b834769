import type { Backbone } from '@capstan/backbone';
import { startCoordinator } from '@capstan/coordinator';
import { onTestFinished } from 'vitest';

/** Feeds the queue from what waits in Postgres, and delivers again what was lost; until the test has ended. */
export function startTestCoordinator(backbone: Backbone): void {
  const coordinator = startCoordinator(backbone, { sweep_ms: 200, retention: {} });
  onTestFinished(() => coordinator.stop());
}

import type { Backbone } from '@capstan/backbone';

export type Repeated = { wake(): void; stop(): Promise<void> };

/**
 * Runs a duty now, then again when woken or after `pause()` milliseconds, whichever comes first. While the duty finds work
 * (returns more than 0), it runs again at once. An error costs one iteration.
 */
export function repeat(
  log: Backbone['log'],
  name: string,
  duty: () => Promise<number>,
  pause: () => Promise<number>,
): Repeated {
  let stopped = false;
  let woken = false;
  let wakeUp: (() => void) | null = null;

  const rest = (ms: number) =>
    new Promise<void>((resolve) => {
      if (woken || stopped) return resolve();
      const timer = setTimeout(resolve, ms);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const turn = async (): Promise<number> => {
    try {
      return (await duty()) > 0 ? 0 : await pause();
    } catch (error) {
      log.warn({ err: error, duty: name }, 'coordinator duty failed; will retry');
      return 1000;
    }
  };
  const loop = async () => {
    while (!stopped) {
      woken = false;
      await rest(await turn());
      wakeUp = null;
    }
  };
  const running = loop();
  return {
    wake: () => {
      woken = true;
      wakeUp?.();
    },
    stop: async () => {
      stopped = true;
      wakeUp?.();
      await running;
    },
  };
}

import type { Backbone } from '@capstan/backbone';

export type Repeated = { wake(): void; stop(): Promise<void> };

/**
 * Does a duty now, then again when woken or after `pause()` milliseconds, whichever comes first; at once while it finds
 * work (answers more than 0). An error costs this turn only.
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
      log.warn({ err: error, duty: name }, 'a duty failed; it is tried again');
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

import { useEffect, useRef, useSyncExternalStore } from 'react';

const KEY = 'capstan-notify';
const listeners = new Set<() => void>();

const isGranted = (): boolean => 'Notification' in window && Notification.permission === 'granted';
const areOn = (): boolean => localStorage.getItem(KEY) === 'on' && isGranted();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
export const useNoticesOn = (): boolean => useSyncExternalStore(subscribe, areOn);

/** Returns false if the browser does not allow notifications. */
export async function turnNotices(on: boolean): Promise<boolean> {
  const allowed = !on || (await Notification.requestPermission()) === 'granted';
  if (on && allowed) localStorage.setItem(KEY, 'on');
  else localStorage.removeItem(KEY);
  for (const tell of listeners) tell();
  return allowed;
}

/** Shows a browser notification about new holds while the page is hidden, whichever page it is. */
export function useNotices(count: number | undefined): void {
  const before = useRef(count);
  useEffect(() => {
    const more = before.current === undefined || count === undefined ? 0 : count - before.current;
    before.current = count;
    if (more > 0 && document.hidden && areOn())
      new Notification('Capstan', {
        body: `${more} more ${more === 1 ? 'call waits' : 'calls wait'} for a decision`,
        tag: 'capstan-holds',
      });
  }, [count]);
}

import { useSyncExternalStore } from 'react';

const query = matchMedia('(max-width: 720px)');
const subscribe = (listener: () => void) => {
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
};

/** Whether the page is as narrow as a phone; the style sheets change at the same width. */
export const useNarrow = (): boolean => useSyncExternalStore(subscribe, () => query.matches);

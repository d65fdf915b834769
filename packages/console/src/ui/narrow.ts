import { useSyncExternalStore } from 'react';

const query = matchMedia('(max-width: 720px)');
const subscribe = (listener: () => void) => {
  query.addEventListener('change', listener);
  return () => query.removeEventListener('change', listener);
};

/** True if the page is as narrow as a phone. The style sheets use the same width. */
export const useNarrow = (): boolean => useSyncExternalStore(subscribe, () => query.matches);

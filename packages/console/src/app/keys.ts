import { useEffect, useRef, useSyncExternalStore } from 'react';

export type KeyMap = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const KEY = 'capstan-shortcuts';
const listeners = new Set<() => void>();
const areOn = (): boolean => localStorage.getItem(KEY) !== 'off';
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Single-key shortcuts interfere with speech input, so they can be turned off. */
export function turnShortcuts(on: boolean): void {
  if (on) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, 'off');
  for (const tell of listeners) tell();
}
export const useShortcutsOn = (): boolean => useSyncExternalStore(subscribe, areOn);

/** Elements in which keys are text, or belong to a dialog. */
function isTaken(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLInputElement && target.type !== 'checkbox') ||
    document.querySelector('dialog[open], [role="menu"]') !== null
  );
}

/** The shortcuts of a page: `{ j: next, 'g a': goToApprovals }`. */
export function useKeys(keys: KeyMap): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    let before = '';
    let forget: ReturnType<typeof setTimeout> | undefined;
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !areOn() || isTaken(event))
        return;
      const act = latest.current[`${before} ${event.key}`] ?? (before === 'g' ? undefined : latest.current[event.key]);
      clearTimeout(forget);
      before = event.key;
      forget = setTimeout(() => {
        before = '';
      }, 1000);
      if (!act) return;
      before = '';
      event.preventDefault();
      act(event);
    };
    document.addEventListener('keydown', press);
    return () => {
      clearTimeout(forget);
      document.removeEventListener('keydown', press);
    };
  }, []);
}

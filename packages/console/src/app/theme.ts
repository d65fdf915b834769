import { useSyncExternalStore } from 'react';

export type ThemeChoice = 'system' | 'light' | 'dark';

const KEY = 'capstan-theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

const read = (): ThemeChoice => {
  const kept = localStorage.getItem(KEY);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
};

const inForce = (): 'light' | 'dark' => {
  const choice = read();
  if (choice !== 'system') return choice;
  return dark.matches ? 'dark' : 'light';
};

export function applyTheme(): void {
  document.documentElement.dataset.theme = inForce();
  for (const tell of listeners) tell();
}

export function chooseTheme(choice: ThemeChoice): void {
  if (choice === 'system') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, choice);
  applyTheme();
}

dark.addEventListener('change', applyTheme);

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useThemeChoice = (): ThemeChoice => useSyncExternalStore(subscribe, read);
export const useTheme = (): 'light' | 'dark' => useSyncExternalStore(subscribe, inForce);

import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

/** The query string as names and texts. Several values of one name are separated by commas. */
export type Search = Record<string, string | undefined>;

export const parseSearch = (text: string): Search => Object.fromEntries(new URLSearchParams(text));

export const writeSearch = (search: Record<string, unknown>): string => {
  const pairs = Object.entries(search).filter(([, value]) => value !== undefined && value !== '' && value !== null);
  const text = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)])).toString();
  // These characters are safe in a query, and a shared URL should be readable.
  return text === '' ? '' : `?${text.replaceAll('%2C', ',').replaceAll('%3A', ':')}`;
};

/** The state of a page that is part of its URL, so that it can be shared and restored. */
export function useSearchState(): [Search, (change: Search) => void] {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = useCallback(
    (wanted: Search) =>
      void navigate({ to: '.', search: (before: Search) => ({ ...before, ...wanted }), replace: true }),
    [navigate],
  );
  return [search, change];
}

export const listOf = (value: string | undefined): string[] => (value ? value.split(',') : []);

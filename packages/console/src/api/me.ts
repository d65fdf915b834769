import type { LoginOptions, Role, Whoami } from '@capstan/contracts';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { get, post, request } from './request.js';

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => get<Whoami>('/v1/whoami', {}, signal),
  staleTime: 60_000,
  retry: false,
});

export const loginOptionsQuery = queryOptions({
  queryKey: ['login-options'],
  queryFn: ({ signal }) => get<LoginOptions>('/v1/login/options', {}, signal),
});

export const logIn = (key: string): Promise<null> => request('POST', '/v1/login', { body: { key } });
export const logOut = (): Promise<null> => post('/v1/logout');

/** Whether the signed-in user may do something, and if not, why. */
export type May = { ok: boolean; why: string | null };

const mayWith = (me: Whoami | undefined, ...anyOf: Role[]): May => {
  if (!me) return { ok: false, why: 'You are not signed in.' };
  if (me.roles.includes('admin') || anyOf.some((role) => me.roles.includes(role))) return { ok: true, why: null };
  return { ok: false, why: `This needs the role ${anyOf.join(' or ')}. You have ${me.roles.join(', ') || 'none'}.` };
};

export const useMe = (): Whoami | undefined => useQuery(meQuery).data;
export const useMay = (...anyOf: Role[]): May => mayWith(useMe(), ...anyOf);

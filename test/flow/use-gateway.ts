import { beforeAll } from 'vitest';
import { ADMIN_KEY, type System, startSystem } from './start-system.js';

export const submission = (over: object = {}) => ({ tool_id: 'cap:test_math:add', inputs: { a: 1, b: 2 }, ...over });

interface CallOptions {
  key?: string | null;
  body?: string;
  headers?: Record<string, string>;
}

/** A gateway for this test file, and functions to send it requests that no client would send. */
export function useGateway() {
  const its = {} as { system: System };
  beforeAll(async () => {
    its.system = await startSystem({ name: 'postgres' });
  });
  const call = async (method: string, path: string, { key = ADMIN_KEY, body, headers = {} }: CallOptions = {}) => {
    const response = await fetch(`${its.system.url}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      headers: response.headers,
      text,
      json: text ? JSON.parse(text) : null,
    };
  };
  const post = (body: unknown, options: { key?: string } = {}) =>
    call('POST', '/v1/invocations', { ...options, body: typeof body === 'string' ? body : JSON.stringify(body) });
  return { its, call, post };
}

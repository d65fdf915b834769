import type { Egress } from '@capstan/egress';
import type { FetchLike } from '@modelcontextprotocol/client';

const MAX_BYTES = 1024 * 1024;

/**
 * Fetches OAuth metadata and tokens through the egress guard, from any public host that the server names. Private addresses are
 * allowed only if an operator placed the server itself on a private network.
 */
export const oauthFetch =
  (egress: Egress, allow_private: boolean): FetchLike =>
  async (target, init) => {
    const response = await egress.fetch(String(target), {
      method: init?.method ?? 'GET',
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: init?.body === undefined || init.body === null ? null : String(init.body),
      rules: { deny_private_ips: !allow_private },
      ...(init?.signal ? { signal: init.signal } : {}),
      max_redirects: 0,
    });
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > MAX_BYTES) throw new Error(`more than ${MAX_BYTES} bytes of metadata`);
      chunks.push(chunk);
    }
    const { status } = response;
    const body = status === 204 || status === 304 ? null : Buffer.concat(chunks);
    return new Response(body, { status, headers: new Headers(response.headers) });
  };

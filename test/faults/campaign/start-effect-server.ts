import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd } from '../../fixtures/at-end.js';
import type { Operated } from './history.js';

export interface EffectServer {
  /** The address for one call. It answers after `ms`, and the first time with 500 if it is flaky. */
  urlOf(key: string, how: { ms: number; flaky: boolean }): string;
}

/** The tool, outside the system: it notes every call that really arrives, whatever the system believes. */
export async function startEffectServer(note: (operated: Operated) => void): Promise<EffectServer> {
  const called = new Set<string>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://tool');
    const key = pathname.slice(1);
    const began = Date.now();
    const failed = searchParams.has('flaky') && !called.has(key);
    called.add(key);
    note({ op: 'start', key, began, at: began, outcome: 'ok' });
    response.once('close', () => {
      const outcome = !response.writableFinished ? 'unknown' : failed ? 'failed' : 'ok';
      note({ op: 'answer', key, began, at: Date.now(), outcome });
    });
    const answer = () => {
      if (!response.destroyed)
        response.writeHead(failed ? 500 : 200, { 'content-type': 'application/json' }).end(JSON.stringify({ key }));
    };
    setTimeout(answer, Number(searchParams.get('ms') ?? 0));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (key, { ms, flaky }) => `http://127.0.0.1:${port}/${key}?ms=${ms}${flaky ? '&flaky=1' : ''}`,
  };
}

import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { atEnd } from '../fixtures/at-end.js';
import { freePort } from '../fixtures/free-port.js';

/** A statement is identified by its name or by a part of its text. */
export interface LossyProxy {
  /** The URL of the database through this proxy. */
  readonly url: string;
  /** Ends the connection instead of passing on the next such statement. Resolves when that has happened. */
  loseStatement(statement: string): Promise<void>;
  /**
   * Lets the next such statement reach Postgres and be committed, and ends the connection instead of passing on the answer. An
   * answer without `having` is passed on. Resolves when one was lost.
   */
  loseAnswer(statement: string, having?: string): Promise<void>;
  /** Like `loseAnswer`, but holds the answer back until the returned function is called. */
  delayAnswer(statement: string, having?: string): Promise<() => void>;
}

const PATIENCE_MS = 10_000;

interface Fault {
  readonly statement: string;
  readonly having: string;
  readonly kind: 'lose statement' | 'lose answer' | 'delay answer';
  happened(release: () => void): void;
}

/** Postgres answers a statement after its commit, so if the answer is lost, the commit is not. */
export async function startLossyProxy(database_url: string): Promise<LossyProxy> {
  const target = new URL(database_url);
  const sockets = new Set<Socket>();
  let fault: Fault | null = null;
  const happen = (release = () => {}) => {
    fault?.happened(release);
    fault = null;
  };

  const server = createServer((client) => {
    const postgres = createConnection(Number(target.port), target.hostname);
    const end = () => {
      client.destroy();
      postgres.destroy();
    };
    for (const socket of [client, postgres]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', end);
      socket.on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    let asked = false;
    client.on('data', (data) => {
      asked = fault !== null && data.includes(fault.statement);
      if (!asked || fault?.kind !== 'lose statement') return postgres.write(data);
      end();
      happen();
    });
    postgres.on('data', (data) => {
      if (!asked || fault === null || !data.includes(fault.having)) return client.write(data);
      if (fault.kind === 'lose answer') {
        end();
        return happen();
      }
      postgres.pause();
      happen(() => {
        client.write(data);
        postgres.resume();
      });
    });
  });

  const port = await freePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const url = new URL(database_url);
  url.host = `127.0.0.1:${port}`;
  const plan = (kind: Fault['kind'], statement: string, having = '') =>
    new Promise<() => void>((happened, failed) => {
      fault = { kind, statement, having, happened };
      const never = new Error(`could not ${kind}: ${statement} did not come by`);
      setTimeout(failed, PATIENCE_MS, never).unref();
    });
  return {
    url: url.href,
    loseStatement: async (statement) => void (await plan('lose statement', statement)),
    loseAnswer: async (statement, having) => void (await plan('lose answer', statement, having)),
    delayAnswer: (statement, having) => plan('delay answer', statement, having),
  };
}

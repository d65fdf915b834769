import type { LogStream } from '@capstan/contracts';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { ContainedProcess } from './contained-process.js';
import { ProcessTransport } from './process-transport.js';

/** Hears what a server does beside its answers. */
export type Listener = {
  text(stream: LogStream, text: string): void;
  /** It connected to this host. */
  domain(hostname: string): void;
};

export type Connection = {
  client: Client;
  /** Why it ended; null while it lasts. */
  ended(): string | null;
  close(): Promise<void>;
};

export type Means = {
  /** A program, or an endpoint. */
  spawn?: () => Promise<ContainedProcess>;
  transport?: Transport;
  say: Listener['text'];
  onToolsChanged(): void;
  onEnd(): void;
  start_ms: number;
};

const TAIL_CHARS = 1000;
/** What the SDK says when a stream could not be taken up again; the server is gone or restarted. */
const LOST = /Maximum reconnection attempts/;

/** A server, initialised and ready for calls. */
export async function connect(means: Means): Promise<Connection> {
  let why: string | null = null;
  let died = false;
  let tail = '';
  const end = (reason: string) => {
    if (why !== null) return;
    why = tail.trim() === '' ? reason : `${reason}; it had said: ${tail.trim()}`;
    means.onEnd();
  };
  const transport =
    means.transport ??
    overPipes(means, {
      onEnd: (reason) => {
        died = why === null;
        end(reason);
      },
      onText: (text) => {
        tail = (tail + text).slice(-TAIL_CHARS);
        means.say('stderr', text);
      },
    });
  const client = new Client({ name: 'capstan', version: '0.1.0' });
  client.onclose = () => end('the connection was closed');
  client.onerror = (error) => {
    if (LOST.test(error.message)) {
      end('the connection was lost');
      void client.close().catch(() => {});
    }
  };
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    const text = typeof params.data === 'string' ? params.data : JSON.stringify(params.data);
    means.say('stderr', `[${params.level}] ${text}\n`);
  });
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => means.onToolsChanged());
  try {
    await client.connect(transport, { timeout: means.start_ms, maxTotalTimeout: means.start_ms });
  } catch (error) {
    await client.close().catch(() => {});
    // That the program ended says more than that a request over its pipes failed.
    throw died && why !== null ? new Error(`it ${why}`, { cause: error }) : error;
  }
  return { client, ended: () => why, close: () => client.close() };
}

type Ears = { onEnd(why: string): void; onText(text: string): void };

function overPipes({ spawn }: Means, ears: Ears): Transport {
  if (!spawn) throw new Error('neither a program nor an endpoint was given');
  return new ProcessTransport({ spawn, ...ears });
}

import { setTimeout as delay } from 'node:timers/promises';
import {
  isObject,
  type Json,
  type LogStream,
  type NewMcpServer,
  type QuestionRequest,
  toJsonObject,
} from '@capstan/contracts';
import {
  Client,
  type ClientCapabilities,
  type PriorDiscovery,
  ProtocolError,
  ProtocolErrorCode,
  type Transport,
} from '@modelcontextprotocol/client';
import { isLate } from './mcp-failure.js';
import { asCompleteResult, TASKS_EXTENSION } from './upstream-task.js';

/** Receives what a server does besides answering. */
export type Listener = {
  text(stream: LogStream, text: string): void;
  /** It connected to this host. */
  domain(hostname: string): void;
  /** A server of the 2025 protocol asks something during a call, until `signal` withdraws it. Null: nobody answers. */
  ask(request: QuestionRequest, signal: AbortSignal): Promise<Json>;
};

export type Connection = {
  client: Client;
  /** Why it ended. Null while it is open. */
  ended(): string | null;
  close(): Promise<void>;
};

/** Callbacks for the output and the end of a program. Not called for a connection over HTTP. */
export type Ears = { onEnd(why: string): void; onText(text: string): void };

/** `listening` resolves when notifications of the server arrive, if that takes a separate request. */
export type ListeningTransport = Transport & { listening?: Promise<void> };

export type Means = {
  config: NewMcpServer;
  /** Creates a new transport for each try. */
  transport(ears: Ears): ListeningTransport;
  /** The server is known to speak only the older protocol. */
  is_legacy: boolean;
  listener: Pick<Listener, 'text' | 'ask'>;
  onListChanged(): void;
  onResourceUpdated(uri: string): void;
  onEnd(): void;
  start_ms: number;
};

const TAIL_CHARS = 1000;
/** The SDK's message when a stream could not be resumed: the server is gone or was restarted. */
const LOST = /Maximum reconnection attempts/;
/**
 * A program that has not answered the protocol probe by then speaks the older protocol. Over HTTP no answer means nothing, so a
 * slow server gets as long as for any first message.
 */
const PROBE_MS = 4000;
/** Some servers do not answer the request for notifications before they have one. */
const LISTEN_MS = 1000;

/** Connects to a server with the newest protocol that it speaks. */
export async function connect(means: Means): Promise<Connection> {
  let why: string | null = null;
  let died = false;
  let tail = '';
  const end = (reason: string) => {
    if (why !== null) return;
    why = tail.trim() === '' ? reason : `${reason}; it had said: ${tail.trim()}`;
    means.onEnd();
  };
  const transport = means.transport({
    onEnd: (reason) => {
      died = why === null;
      end(reason);
    },
    onText: (text) => {
      tail = (tail + text).slice(-TAIL_CHARS);
      means.listener.text('stderr', text);
    },
  });
  const client = createClient(means);
  client.onclose = () => end('the connection was closed');
  client.onerror = (error) => {
    if (LOST.test(error.message)) {
      end('the connection was lost');
      void client.close().catch(() => {});
    }
  };
  try {
    const prior: PriorDiscovery | undefined = means.is_legacy ? { kind: 'legacy' } : undefined;
    const { start_ms: timeout } = means;
    await client.connect(transport, { timeout, maxTotalTimeout: timeout, ...(prior ? { prior } : {}) });
    // A question that the server asks before we listen would be lost.
    if (client.getProtocolEra() === 'legacy')
      await Promise.race([transport.listening, delay(LISTEN_MS, undefined, { ref: false })]);
  } catch (error) {
    await client.close().catch(() => {});
    // The end of the program explains more than the failed request over its pipes, unless it took too long and was stopped here.
    throw died && why !== null && !isLate(error) ? new Error(`it ${why}`, { cause: error }) : error;
  }
  understandTasks(transport);
  return { client, ended: () => why, close: () => client.close() };
}

function createClient({ config, listener, start_ms, onListChanged, onResourceUpdated }: Means): Client {
  const timeoutMs = config.url === undefined ? Math.min(PROBE_MS, start_ms) : start_ms;
  const changed = { autoRefresh: false, onChanged: onListChanged };
  const client = new Client(
    { name: 'capstan', version: '0.1.0' },
    {
      capabilities: capabilitiesFor(config),
      versionNegotiation: { mode: 'auto', probe: { timeoutMs } },
      // A question may wait for a person, and a connection should not wait that long.
      inputRequired: { autoFulfill: false },
      listChanged: { tools: changed, prompts: changed, resources: changed },
    },
  );
  client.setNotificationHandler('notifications/message', ({ params }) => {
    const text = typeof params.data === 'string' ? params.data : JSON.stringify(params.data);
    listener.text('stderr', `[${params.level}] ${text}\n`);
  });
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => onResourceUpdated(params.uri));
  client.fallbackRequestHandler = async ({ method, params = {} }, { mcpReq: { signal } }) => {
    if (!ASKED.has(method)) throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
    const { _meta, ...asked } = params;
    const request = { method, params: toJsonObject(asked) };
    const answer = await listener.ask(request, signal);
    if (isObject(answer)) return answer;
    if (method === 'elicitation/create') return { action: 'cancel' };
    throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'Nobody can answer this question');
  };
  return client;
}

const ASKED: ReadonlySet<string> = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list']);

/** People can always be asked, through a hold. Only servers that an operator trusts with them may use the caller's model and folders. */
export const capabilitiesFor = ({ asks = [] }: NewMcpServer): ClientCapabilities => ({
  elicitation: { form: {}, url: {} },
  ...(asks.includes('sampling') ? { sampling: {} } : {}),
  ...(asks.includes('roots') ? { roots: {} } : {}),
  extensions: { [TASKS_EXTENSION]: {} },
});

/** The SDK does not support the results of the tasks extension. */
function understandTasks(transport: Transport): void {
  const receive = transport.onmessage;
  transport.onmessage = (message, extra) => receive?.(asCompleteResult(message), extra);
}

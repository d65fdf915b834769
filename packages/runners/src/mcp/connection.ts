import type { Json, JsonObject, LogStream, NewMcpServer, QuestionRequest } from '@capstan/contracts';
import {
  Client,
  type ClientCapabilities,
  type PriorDiscovery,
  ProtocolError,
  ProtocolErrorCode,
  type Transport,
} from '@modelcontextprotocol/client';
import { asCompleteResult, TASKS_EXTENSION } from './upstream-task.js';

/** Hears what a server does beside its answers. */
export type Listener = {
  text(stream: LogStream, text: string): void;
  /** It connected to this host. */
  domain(hostname: string): void;
  /** A server of the 2025 protocol asks something in the middle of a call. Null: nobody answers. */
  ask(request: QuestionRequest): Promise<Json>;
};

export type Connection = {
  client: Client;
  /** Why it ended; null while it lasts. */
  ended(): string | null;
  close(): Promise<void>;
};

/** What is told of the end of a program; a connection over HTTP says nothing of itself. */
export type Ears = { onEnd(why: string): void; onText(text: string): void };

export type Means = {
  config: NewMcpServer;
  /** A new one for each try. */
  transport(ears: Ears): Transport;
  /** Known to speak the older protocol only. */
  is_legacy: boolean;
  listener: Pick<Listener, 'text' | 'ask'>;
  onListChanged(): void;
  onResourceUpdated(uri: string): void;
  onEnd(): void;
  start_ms: number;
};

const TAIL_CHARS = 1000;
/** What the SDK says when a stream could not be taken up again; the server is gone or restarted. */
const LOST = /Maximum reconnection attempts/;
/** A server over pipes that has not answered the question for its protocol by then speaks the older one. */
const PROBE_MS = 4000;

/** A server, ready for calls, in the newest protocol that it speaks. */
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
  } catch (error) {
    await client.close().catch(() => {});
    // That the program ended says more than that a request over its pipes failed.
    throw died && why !== null ? new Error(`it ${why}`, { cause: error }) : error;
  }
  understandTasks(transport);
  return { client, ended: () => why, close: () => client.close() };
}

function createClient({ config, listener, onListChanged, onResourceUpdated }: Means): Client {
  const changed = { autoRefresh: false, onChanged: onListChanged };
  const client = new Client(
    { name: 'capstan', version: '0.1.0' },
    {
      capabilities: capabilitiesFor(config),
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: PROBE_MS } },
      // A question waits for a person, which no connection should.
      inputRequired: { autoFulfill: false },
      listChanged: { tools: changed, prompts: changed, resources: changed },
    },
  );
  client.setNotificationHandler('notifications/message', ({ params }) => {
    const text = typeof params.data === 'string' ? params.data : JSON.stringify(params.data);
    listener.text('stderr', `[${params.level}] ${text}\n`);
  });
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => onResourceUpdated(params.uri));
  client.fallbackRequestHandler = async ({ method, params = {} }) => {
    if (!ASKED.has(method)) throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
    const { _meta, ...asked } = params;
    const answer = await listener.ask({ method, params: JSON.parse(JSON.stringify(asked)) as JsonObject });
    if (isObject(answer)) return answer;
    if (method === 'elicitation/create') return { action: 'cancel' };
    throw new ProtocolError(ProtocolErrorCode.InvalidRequest, 'Nobody is there to answer this');
  };
  return client;
}

const ASKED: ReadonlySet<string> = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list']);

/** People can always be asked, by a hold. The caller's own model and folders are for servers that an operator trusts with them. */
export const capabilitiesFor = ({ asks = [] }: NewMcpServer): ClientCapabilities => ({
  elicitation: { form: {}, url: {} },
  ...(asks.includes('sampling') ? { sampling: {} } : {}),
  ...(asks.includes('roots') ? { roots: {} } : {}),
  extensions: { [TASKS_EXTENSION]: {} },
});

/** The SDK knows no results of the tasks extension. */
function understandTasks(transport: Transport): void {
  const receive = transport.onmessage;
  transport.onmessage = (message, extra) => receive?.(asCompleteResult(message), extra);
}

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

import { type Client, type McpSubscription, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';

/** The streams of a connection on which its server reports changes, by resource. */
const streams = new WeakMap<Client, Map<string, Promise<McpSubscription>>>();
/** Each is a request that stays open. The oldest one ends for a new one. */
const MAX_STREAMS = 100;

/** Hears of changes of a resource until the connection ends. In the newest protocol, a request that stays open does that. */
export async function subscribe(client: Client, uri: string, timeout: number): Promise<Record<string, unknown>> {
  const open = streams.get(client) ?? new Map<string, Promise<McpSubscription>>();
  streams.set(client, open);
  const stream = open.get(uri) ?? listen(client, uri, timeout);
  if (open.get(uri) !== stream) {
    const [oldest] = open;
    if (oldest && open.size >= MAX_STREAMS) {
      open.delete(oldest[0]);
      void oldest[1].then((subscription) => subscription.close()).catch(() => {});
    }
    open.set(uri, stream);
    const forget = () => {
      if (open.get(uri) === stream) open.delete(uri);
    };
    stream.then(({ closed }) => closed).then(forget, forget);
  }
  await stream;
  return {};
}

async function listen(client: Client, uri: string, timeout: number): Promise<McpSubscription> {
  const subscription = await client.listen({ resourceSubscriptions: [uri] }, { timeout });
  if (subscription.honoredFilter.resourceSubscriptions?.includes(uri)) return subscription;
  await subscription.close();
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The server does not report changes of ${uri}.`);
}

import { Socket } from 'node:net';
import type pg from 'pg';

/** After this long without a byte for a pending statement, Postgres is asked whether it is still working on it. */
const QUIET_MS = 5000;
/** The response may have been in transit while Postgres reported the statement as done. */
const GRACE_MS = 1000;

export type SilenceOptions = {
  /** Longer than any statement may take. After that, the connection is closed even if Postgres reports it as working. */
  max_ms: number;
  /** Asks Postgres, over another connection, whether this backend is working on a statement. */
  isWorking(pid: number): Promise<boolean>;
  /** Called after a dead connection was closed, which fails its statement. */
  onDead(): void;
};

/**
 * Closes the connection of a client that has gone silent: no FIN, no RST and no response. That fails its statement and removes
 * the connection from the pool. A client-side statement timeout is no substitute, because it cannot tell a dead connection
 * from slow work. Call this before the client connects.
 */
export function watchSilence(client: pg.Client, { max_ms, isWorking, onDead }: SilenceOptions): void {
  let pid = 0;
  const isDead = async (waited_ms: number): Promise<boolean> => {
    if (waited_ms < max_ms && (await isWorking(pid))) return false;
    await pause(GRACE_MS);
    return true;
  };
  const check = async (socket: Socket): Promise<void> => {
    const asked = performance.now();
    const read = socket.bytesRead;
    const isSilent = () => !socket.destroyed && isWaiting(client) && socket.bytesRead === read;
    while (isSilent()) {
      if (await isDead(performance.now() - asked)) {
        if (!isSilent()) break;
        closeSilent(client);
        return onDead();
      }
      await pause(QUIET_MS);
    }
    // A socket timeout fires once, until it is set again.
    if (!socket.destroyed) socket.setTimeout(QUIET_MS);
  };
  client.connection.once('backendKeyData', ({ processID }: { processID: number }) => {
    pid = processID;
  });
  client.connection.once('readyForQuery', () => {
    // Not earlier, because TLS replaces the stream.
    const { stream } = client.connection;
    if (!(stream instanceof Socket)) return;
    stream.on('timeout', () => void check(stream));
    stream.setTimeout(QUIET_MS);
  });
}

/** Closes the connection at once, with an error that `isUnavailable` recognizes. */
export const closeSilent = ({ connection }: pg.Client): void => {
  connection.stream.destroy(new Error('Connection terminated: Postgres has gone silent'));
};

/** A statement was sent, and Postgres is not ready for the next one yet. */
const isWaiting = (client: pg.Client): boolean => 'readyForQuery' in client && client.readyForQuery === false;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref());

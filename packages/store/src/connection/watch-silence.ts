import { Socket } from 'node:net';
import type pg from 'pg';

/** So long a statement may go without a byte from Postgres before it is asked whether it is still at work. */
const QUIET_MS = 5000;
/** The answer may have been on its way while Postgres said that it was done. */
const GRACE_MS = 1000;

export type SilenceOptions = {
  /** Longer than any statement may take: then the connection is given up whatever Postgres says. */
  max_ms: number;
  /** Asks Postgres, over another connection, whether this backend is working on a statement. */
  isWorking(pid: number): Promise<boolean>;
  /** This connection was dead. It is closed, and its statement has failed. */
  onDead(): void;
};

/**
 * Notices when the connection of a client has gone silent: no FIN, no RST, and never an answer. Closing it fails its statement,
 * and nobody gets this connection again. A time limit for statements would not do: it cannot tell a dead connection from slow
 * work. To be called before the client connects.
 */
export function watchSilence(client: pg.Client, { max_ms, isWorking, onDead }: SilenceOptions): void {
  let pid = 0;
  const isDead = async (waited_ms: number): Promise<boolean> => {
    if (waited_ms < max_ms && (await isWorking(pid))) return false;
    await pause(GRACE_MS);
    return true;
  };
  const look = async (socket: Socket): Promise<void> => {
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
    // It is over once it has fired, until it is set again.
    if (!socket.destroyed) socket.setTimeout(QUIET_MS);
  };
  client.connection.once('backendKeyData', ({ processID }: { processID: number }) => {
    pid = processID;
  });
  client.connection.once('readyForQuery', () => {
    // Not before: with TLS it is another one now.
    const { stream } = client.connection;
    if (!(stream instanceof Socket)) return;
    stream.on('timeout', () => void look(stream));
    stream.setTimeout(QUIET_MS);
  });
}

/** At once, and with an error that says that Postgres is away. */
export const closeSilent = ({ connection }: pg.Client): void => {
  connection.stream.destroy(new Error('Connection terminated: Postgres has gone silent'));
};

/** A statement was sent, and Postgres has not said that it is ready for the next. */
const isWaiting = (client: pg.Client): boolean => 'readyForQuery' in client && client.readyForQuery === false;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms).unref());

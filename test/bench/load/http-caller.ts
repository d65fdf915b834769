import { once } from 'node:events';
import { connect } from 'node:net';
import { type Answer, readAnswer } from './read-answer.js';

/** One keep-alive connection with at most one call under way on it. */
export interface HttpCaller {
  post(body: string): Promise<Answer>;
  close(): void;
}

/**
 * An HTTP/1.1 client of just what the load needs, over a bare socket. The load generator shares the machine's cores with what it
 * measures, so each microsecond it takes is missing there. Measured against a trivial node:http server, 50 in flight, two cores:
 * undici's Pool takes 78 µs of CPU a call, this takes 48 (20 of them the kernel's, 7 the check of the answer, in both): a ratio of 1.6,
 * and 1.2 times the rate where client and server compete for the cores.
 */
export async function openHttpCaller({ port, head }: { port: number; head: string }): Promise<HttpCaller> {
  let answered: ((answer: Answer) => void) | undefined;
  let broken: ((error: Error) => void) | undefined;
  let earlier: Buffer | undefined;

  function receive(chunk: Buffer): void {
    const received = earlier === undefined ? chunk : Buffer.concat([earlier, chunk]);
    const answer = readAnswer(received);
    earlier = answer === undefined ? Buffer.from(received) : undefined;
    if (answer !== undefined) answered?.(answer);
  }

  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    // One buffer for every read of this socket, instead of a fresh one for each.
    onread: {
      buffer: Buffer.allocUnsafe(16_384),
      callback: (length, buffer) => {
        try {
          receive(Buffer.from(buffer.buffer, buffer.byteOffset, length));
        } catch (error) {
          socket.destroy(error instanceof Error ? error : new Error(String(error)));
        }
        return true;
      },
    },
  });
  await once(socket, 'connect');
  socket.on('error', (error) => broken?.(error));
  socket.on('close', () => broken?.(new Error('the gateway closed the connection')));

  return {
    post: (body) =>
      new Promise<Answer>((resolve, reject) => {
        answered = resolve;
        broken = reject;
        if (socket.destroyed) reject(new Error('the gateway closed the connection'));
        // latin1: the bodies are ASCII, so the length in characters is the length in bytes, and head and body leave in one write.
        else socket.write(`${head}${body.length}\r\n\r\n${body}`, 'latin1');
      }),
    close: () => {
      broken = undefined;
      socket.destroy();
    },
  };
}

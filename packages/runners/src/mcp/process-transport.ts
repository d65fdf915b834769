import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from '@modelcontextprotocol/client';
import type { ContainedProcess } from './contained-process.js';
import { DepthGuard } from './depth-guard.js';

const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
/** Time for a clean exit after its input is closed, as the protocol requires. */
const GOODBYE_MS = 300;

type Options = {
  spawn(): Promise<ContainedProcess>;
  /** Receives what it prints to stderr. */
  onText(text: string): void;
  /** Called once, with a description. */
  onEnd(why: string): void;
};

/** The protocol over the pipes of a process. `spawn` starts and contains it. */
export class ProcessTransport implements Transport {
  /** By these two properties the SDK recognizes a transport over pipes, on which no answer to its probe means the older protocol. */
  readonly stderr = null;
  readonly pid = null;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: Options;
  readonly #buffer = new ReadBuffer({ maxBufferSize: MAX_MESSAGE_BYTES });
  readonly #depth = new DepthGuard('lines');
  #process: ContainedProcess | null = null;
  #ended = false;

  constructor(options: Options) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const child = await this.#options.spawn();
    this.#process = child;
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.#options.onText(text));
    void child.exited.then((why) => this.#end(why));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#process;
    if (!child || this.#ended) throw new Error('the server has ended');
    await new Promise<void>((resolve, reject) => {
      child.stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  async close(): Promise<void> {
    const child = this.#process;
    if (!child || this.#ended) return;
    child.stdin.end();
    const hurry = setTimeout(() => child.kill(), GOODBYE_MS);
    await child.exited;
    clearTimeout(hurry);
  }

  #read(chunk: Buffer): void {
    if (this.#ended) return;
    try {
      this.#depth.check(chunk);
    } catch (error) {
      this.#refuse(toError(error), `sent ${toError(error).message}`);
      return;
    }
    try {
      this.#buffer.append(chunk);
    } catch (error) {
      this.#refuse(toError(error), `sent a message of more than ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB`);
      return;
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch (error) {
        // Some programs print banners to stdout, where only messages belong. What cannot be parsed is skipped.
        this.onerror?.(toError(error));
      }
    }
  }

  #refuse(error: Error, why: string): void {
    this.onerror?.(error);
    this.#process?.kill();
    this.#end(why);
  }

  #end(why: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.onEnd(why);
    this.onclose?.();
  }
}

const toError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));

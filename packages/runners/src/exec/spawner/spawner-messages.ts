import type { Launch, SandboxLevel } from '../../sandbox/sandbox.js';

export type Ending =
  | { kind: 'exited'; exit_code: number }
  | { kind: 'killed'; signal: string }
  | { kind: 'not_started'; code: string; message: string };

/** What is to be started. */
export type Order = { launch: Launch; stdin: string | undefined; level: SandboxLevel };

/** `ask` lets it end in good order first, `kill` does not. */
export type Stop = 'ask' | 'kill';

/** From the worker to the spawner. Each run has a number. */
export type Command = { id: number; run: Order } | { id: number; stop: Stop };

/** From the spawner to the worker. */
export type Report =
  | { id: number; pid: number }
  | { id: number; stream: 'stdout' | 'stderr'; chunk: Uint8Array }
  | { id: number; ending: Ending };

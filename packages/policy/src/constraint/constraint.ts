import type { Request } from '../request.js';

/** Which part of a policy refuses a call, and why. `rule` is spelt as in `deny_paths[**\/.env]`. */
export type Refusal = { rule: string; reason: string };

/** A part of a policy that looks at the inputs of a call. Null when it has nothing against it. */
export type Check = (request: Request) => Refusal | null;

export const refuse = (rule: string, reason: string): Refusal => ({ rule, reason });

import type { Request } from '../request.js';

/** The part of a policy that refuses a call, and the reason. `rule` is spelled as in `deny_paths[**\/.env]`. */
export type Refusal = { rule: string; reason: string };

/** Checks the inputs of a call. Null if it has no objection. */
export type Check = (request: Request) => Refusal | null;

export const refuse = (rule: string, reason: string): Refusal => ({ rule, reason });

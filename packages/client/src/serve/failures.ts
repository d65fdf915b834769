/** Thrown by a tool: the same call may succeed when it is tried again. */
export class Retryable extends Error {
  override readonly name = 'Retryable';
}

/** Thrown by a tool: no retry can help. */
export class Fatal extends Error {
  override readonly name = 'Fatal';
}

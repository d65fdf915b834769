/** Thrown by a tool if a retry of the same call may succeed. */
export class Retryable extends Error {
  override readonly name = 'Retryable';
}

/** Thrown by a tool if no retry can help. */
export class Fatal extends Error {
  override readonly name = 'Fatal';
}

/** Thrown by a runner that did not start the call. Another worker may, after `backoff_ms`. */
export class NotStarted extends Error {
  override readonly name = 'NotStarted';
  readonly backoff_ms: number;

  constructor(why: string, backoff_ms = 1) {
    super(why);
    this.backoff_ms = backoff_ms;
  }
}

/** Thrown by a runner whose call is running, or has ended, in another of our processes: it is not settled here. */
export class TakenElsewhere extends Error {
  override readonly name = 'TakenElsewhere';
}

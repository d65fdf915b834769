/** Thrown by a runner that did not begin: another worker may, after so long. */
export class NotStarted extends Error {
  override readonly name = 'NotStarted';
  readonly backoff_ms: number;

  constructor(why: string, backoff_ms = 1) {
    super(why);
    this.backoff_ms = backoff_ms;
  }
}

/** Thrown by a runner whose call goes on, or has ended, in another process of ours: nothing of it is settled here. */
export class TakenElsewhere extends Error {
  override readonly name = 'TakenElsewhere';
}

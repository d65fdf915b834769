/** The embedded Postgres cannot run. The message ends with what to do about it. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
  readonly suggestion: string;

  constructor(detail: string, options: { suggestion: string; cause?: unknown }) {
    super(`${detail}\n${options.suggestion}`, 'cause' in options ? { cause: options.cause } : undefined);
    this.suggestion = options.suggestion;
  }
}

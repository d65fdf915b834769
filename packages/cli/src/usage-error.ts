/** A usage error that commander cannot detect. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly suggestion: string | null;

  constructor(message: string, suggestion: string | null = null) {
    super(message);
    this.suggestion = suggestion;
  }
}

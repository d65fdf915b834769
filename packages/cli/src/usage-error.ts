/** The command was called wrongly, in a way that only its own code can see. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly suggestion: string | null;

  constructor(message: string, suggestion: string | null = null) {
    super(message);
    this.suggestion = suggestion;
  }
}

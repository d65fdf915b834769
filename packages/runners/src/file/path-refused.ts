/** The reason why a path of the workspace is refused, by the name of the rule in policies. */
export class PathRefused extends Error {
  override readonly name = 'PathRefused';
  constructor(
    readonly rule: string,
    message: string,
  ) {
    super(message);
  }
}

/** The path exists, but is not a regular file. This is not a refusal by policy. */
export class NotAFile extends Error {
  override readonly name = 'NotAFile';
}

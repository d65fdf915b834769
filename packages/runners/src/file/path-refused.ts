/** Why a path of the workspace is not opened, by the name that policies know it by. */
export class PathRefused extends Error {
  override readonly name = 'PathRefused';
  constructor(
    readonly rule: string,
    message: string,
  ) {
    super(message);
  }
}

/** What is there can be neither read nor written as a file. No policy is against it. */
export class NotAFile extends Error {
  override readonly name = 'NotAFile';
}

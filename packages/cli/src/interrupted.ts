/** The abort reason for Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

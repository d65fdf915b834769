/** Ctrl-C, as the reason of an abort. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

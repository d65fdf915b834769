/** A pause of so many sweeps, more or less: processes that were started together do not look together for ever. */
export const every =
  (sweep_ms: number, sweeps: number): (() => Promise<number>) =>
  () =>
    Promise.resolve(sweep_ms * sweeps * (0.8 + 0.4 * Math.random()));

/** How many sweeps pass before a duty looks for what signals should have told of. */
export const BACKSTOP = {
  /** What a process that died may have left behind without a signal. */
  left_behind: 5,
  /** What has a time at which it is due. */
  due: 15,
  /** What signals or `lookForWork` tell of. */
  told: 60,
};

/** A jittered pause of `sweeps` sweeps, so that processes started together do not stay in step. */
export const every =
  (sweep_ms: number, sweeps: number): (() => Promise<number>) =>
  () =>
    Promise.resolve(sweep_ms * sweeps * (0.8 + 0.4 * Math.random()));

/** How many sweeps pass before a duty looks for work whose signal may have been lost. */
export const BACKSTOP = {
  /** Work that a crashed process may have left behind without a signal. */
  left_behind: 5,
  /** Work that is due at a known time. */
  due: 15,
  /** Work announced by signals or found by `lookForWork`. */
  told: 60,
};

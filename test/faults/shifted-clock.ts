/** The environment for a process whose clock is this far ahead, or behind if negative. */
export function shiftedClock(ms: number): Record<string, string> {
  const script = `
    const RealDate = Date;
    globalThis.Date = class Date extends RealDate {
      constructor(...given) {
        if (given.length === 0) super(RealDate.now() + ${ms});
        else super(...given);
      }
      static now() {
        return RealDate.now() + ${ms};
      }
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

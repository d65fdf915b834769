const HOUR_MS = 3_600_000;

/** The environment for a process whose clock jumps at each SIGUSR2: an hour ahead, two hours back, then an hour ahead again. */
export function steppableClock(): Record<string, string> {
  const script = `
    const RealDate = Date;
    const steps = [0, ${HOUR_MS}, ${-HOUR_MS}];
    let at = 0;
    const now = () => RealDate.now() + steps[at];
    globalThis.Date = class Date extends RealDate {
      constructor(...given) {
        if (given.length === 0) super(now());
        else super(...given);
      }
      static now() {
        return now();
      }
    };
    process.on('SIGUSR2', () => {
      at = (at + 1) % steps.length;
    });`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

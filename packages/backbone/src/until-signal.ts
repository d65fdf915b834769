/** Ctrl-C under npm arrives twice, once from the terminal and once from npm, which passes on what it gets. */
const SAME_REQUEST_MS = 1000;

/** Resolves at the first SIGTERM or SIGINT; a second one, later than its echo, ends the process at once. */
export const untilSignal = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    let asked_at: number | null = null;
    const on = (signal: NodeJS.Signals) => {
      if (asked_at !== null && performance.now() - asked_at > SAME_REQUEST_MS) process.exit(130);
      asked_at ??= performance.now();
      resolve(signal);
    };
    process.on('SIGTERM', on);
    process.on('SIGINT', on);
  });

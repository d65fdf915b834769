/** Under npm, Ctrl-C arrives twice: from the terminal, and from npm, which forwards it. */
const SAME_REQUEST_MS = 1000;

/** Resolves at the first SIGTERM or SIGINT. Another one, more than SAME_REQUEST_MS later, ends the process at once. */
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

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
export const untilSignal = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    let asked = false;
    const on = (signal: NodeJS.Signals) => {
      if (asked) process.exit(130);
      asked = true;
      resolve(signal);
    };
    process.on('SIGTERM', on);
    process.on('SIGINT', on);
  });

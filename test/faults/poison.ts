/** Inputs that kill the worker that claims them. */
export const POISON = { a: 666_000_666, b: 0 };

/**
 * The environment of workers that die when they parse these inputs, which is when they learn of the call. By then the
 * claim is committed, and the invocation has not run.
 */
export function poisonable(): Record<string, string> {
  const script = `
    const parse = JSON.parse;
    JSON.parse = (text, reviver) => {
      const poisoned = String(text).includes(${JSON.stringify(JSON.stringify(POISON))}) && process.argv.includes('worker');
      if (poisoned) process.kill(process.pid, 'SIGKILL');
      return parse(text, reviver);
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

export interface CutShort {
  /** Rejects when the bench cannot or may not go on; never resolves. */
  readonly happened: Promise<never>;
  readonly because: (error: Error) => void;
}

/** Ctrl-C, or the death of a process under test. Nothing is waited for then but the cleanup. */
export function openCutShort(): CutShort {
  let because: (error: Error) => void = () => {};
  const happened = new Promise<never>((_, reject) => {
    because = reject;
  });
  happened.catch(() => {}); // looked at once the bench is under way; until then it is not an unhandled rejection
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => because(new Error(`ended by ${signal}`)));
  }
  return { happened, because };
}

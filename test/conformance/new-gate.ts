export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

/** A promise that a test can resolve. */
export function newGate(): Gate {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

/** Somebody waits until it is opened. */
export function newGate(): Gate {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

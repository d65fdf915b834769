/** Forwards a call at once, then at most one per `pause()` milliseconds. Calls during the pause are forwarded as one at its end. */
export function throttled(through: () => void, pause: () => number): { call(): void; stop(): void } {
  let timer: NodeJS.Timeout | null = null;
  let again = false;
  const rest = () => {
    timer = setTimeout(() => {
      timer = null;
      if (again) call();
    }, pause()).unref();
  };
  const call = () => {
    if (timer) {
      again = true;
      return;
    }
    again = false;
    rest();
    through();
  };
  return {
    call,
    stop: () => {
      if (timer) clearTimeout(timer);
      again = false;
    },
  };
}

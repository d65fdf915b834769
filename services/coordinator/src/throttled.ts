/** Calls through at once, then at most once in `pause()` milliseconds; a call within the pause is made at its end. */
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

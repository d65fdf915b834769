/** Waits for a signal, up to a timeout. One caller may wait at a time. */
export class Bell {
  #wake: ((rung: boolean) => void) | null = null;

  ring(): void {
    this.#wake?.(true);
  }

  /** Returns false on timeout. */
  async wait(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<boolean>((resolve) => {
        this.#wake = resolve;
        timer = setTimeout(() => resolve(false), ms);
      });
    } finally {
      this.#wake = null;
      clearTimeout(timer);
    }
  }
}

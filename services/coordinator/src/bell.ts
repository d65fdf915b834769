/** For one who waits until something happens, but not for ever. */
export class Bell {
  #wake: ((rung: boolean) => void) | null = null;

  ring(): void {
    this.#wake?.(true);
  }

  /** False when it did not ring for so long. */
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

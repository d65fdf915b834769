/** Wakes waiting requests. A wait also ends after a timeout, or when its client disconnects. */
export class Bell {
  #waiting = new Set<() => void>();

  /** Deferred with setImmediate, so that everything from one turn of the event loop goes into one answer. */
  ring(): void {
    for (const done of this.#waiting) setImmediate(done);
  }

  isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  wait(ms: number, gone: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        gone.removeEventListener('abort', done);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(0, ms));
      gone.addEventListener('abort', done);
      this.#waiting.add(done);
      if (gone.aborted) done();
    });
  }
}

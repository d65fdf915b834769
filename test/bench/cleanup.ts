export interface Cleanup {
  /** Registers how to undo what was just started. Undone at once when the cleanup is already under way. */
  defer(undo: () => unknown): Promise<void>;
  /** Undoes everything, the latest first; one failure does not keep the rest from being undone. */
  close(): Promise<void>;
}

/** What the bench starts and creates ends here, on success, on an error and on Ctrl-C alike. */
export function openCleanup(): Cleanup {
  const undos: (() => unknown)[] = [];
  let closed: Promise<void> | undefined;

  async function undoAll(): Promise<void> {
    for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) {
      try {
        await undo();
      } catch (error) {
        process.stderr.write(`cleanup: ${error instanceof Error ? error.message : String(error)}\n`);
      }
    }
  }

  return {
    async defer(undo) {
      undos.push(undo);
      if (closed !== undefined) await undoAll();
    },
    close() {
      closed ??= undoAll();
      return closed;
    },
  };
}

import { formatDuration } from '../format/duration.js';
import { cut } from '../format/width.js';
import type { Output } from '../output.js';
import { createLiveLine } from './live-line.js';

export type Spinner = {
  say(text: string): void;
  /** Prints lines that stay, also in a pipe. */
  tell(lines: string): Promise<void>;
  stop(): Promise<void>;
};

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;
/** No spinner before this. */
const PATIENCE_MS = 400;

/** Shows on a terminal what is awaited and for how long. Silent in a pipe. */
export const startSpinner = (output: Output, text: string): Spinner => {
  if (!output.live) return { say: () => undefined, tell: (lines) => output.line(lines), stop: async () => undefined };
  const line = createLiveLine(output);
  const started = performance.now();
  let said = text;
  let frame = 0;
  const timer = setInterval(() => {
    const elapsed = performance.now() - started;
    if (elapsed < PATIENCE_MS) return;
    frame = (frame + 1) % FRAMES.length;
    const time = formatDuration(elapsed);
    // A wrapped line cannot be redrawn.
    const shown = cut(said, output.columns - time.length - ' '.length * 4);
    void line.show(`${output.colors.cyan(FRAMES[frame] ?? '')} ${shown} ${output.colors.dim(time)}`);
  }, FRAME_MS);
  return {
    say(next) {
      said = next;
    },
    async tell(lines) {
      await line.clear();
      await output.line(lines);
    },
    async stop() {
      clearInterval(timer);
      await line.clear();
    },
  };
};

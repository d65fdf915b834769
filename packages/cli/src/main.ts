import { runCli } from './run-cli.js';
import { applySettings, readSettingsFile } from './settings-file.js';
import { skipWasmOptimizer } from './skip-wasm-optimizer.js';

/** A reader that has seen enough (`| head`) is no error. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
}

try {
  const settings = await readSettingsFile(process.env, process.cwd());
  if (settings) applySettings(process.env, settings);
} catch (error) {
  process.stderr.write(`✗ ${error instanceof Error ? error.message : error}\n`);
  process.exit(2);
}

const code = await runCli(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  now: () => new Date(),
  beforeConnecting: skipWasmOptimizer,
  onInterrupt(listener) {
    // Once: a second Ctrl-C ends the process at once.
    process.once('SIGINT', listener);
    return () => void process.off('SIGINT', listener);
  },
});
process.exitCode = code;

// Ended by hand once everything is written: a connection that a failed service left open must not keep it alive.
const written = [process.stdout, process.stderr].map(
  (stream) => new Promise<void>((resolve) => stream.write('', () => resolve())),
);
await Promise.all(written);
process.exit();

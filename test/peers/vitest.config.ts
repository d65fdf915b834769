import { defineConfig } from 'vitest/config';

// biome-ignore lint/style/noDefaultExport: vitest reads its configuration this way
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['**/*.test.ts'],
    globalSetup: ['../fixtures/global-setup.ts'],
    setupFiles: ['../fixtures/setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Whole frameworks and suites start here: a busy machine loses one now and then. The report names what needed another try.
    retry: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
});

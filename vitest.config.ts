import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/fixtures/longest-first.ts';

// biome-ignore lint/style/noDefaultExport: this is how vitest reads it
export default defineConfig({
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'services/*/src/**/*.test.ts',
      'test/{flow,console,conformance,docs,faults,fixtures,bench}/**/*.test.ts',
    ],
    globalSetup: ['test/fixtures/global-setup.ts'],
    setupFiles: ['test/fixtures/setup.ts'],
    // Processes: files start servers, change the environment and are killed; threads would share all that.
    pool: 'forks',
    // Built packages are loaded by node itself: rewriting them took 10 of the 19 s of CPU time of a file that starts one system.
    server: { deps: { external: [/\/(packages|services)\/[^/]+\/dist\//] } },
    // One process for each worker instead of each file: loading the packages for each of 180 files took half of the suite's CPU time.
    isolate: false,
    // Tests of whole systems wait a third of their time, so that three keep two cores busy.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // No second tries: a test that fails now and then says that something is wrong. Only what fails waits as long as this.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
    expect: { poll: { timeout: 30_000 } },
  },
});

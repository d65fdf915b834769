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
    // What is built is loaded as node does it: rewriting it took 10 of the 19 s of CPU time of a file that starts one system.
    server: { deps: { external: [/\/(packages|services)\/[^/]+\/dist\//] } },
    // A process for each worker, not for each file: loading the packages anew for 180 files took half of the suite's CPU time.
    isolate: false,
    // Tests of whole systems wait a third of their time, so that three keep two cores busy.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Tests of races and of starting processes lose one in some thousands to a busy machine. The report names each that
    // needed a second try.
    retry: 1,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
  },
});

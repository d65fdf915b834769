import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '@capstan/contracts';
import type { Browser } from 'playwright-core';
import { type Containment, containments, type Level, quoted } from './containment.js';
import { findChrome } from './find-chrome.js';
import { FLAGS, NOWHERE } from './flags.js';
import { watchOrphan } from './orphan-watch.js';
import { treeMemory } from './tree-memory.js';
import { unpackChromium } from './unpack-chromium.js';

export type LaunchedBrowser = {
  browser: Browser;
  level: Level;
  memory(): Promise<number | null>;
  /** Ends all its processes, whatever they are doing, and leaves nothing behind. */
  close(): Promise<void>;
};

export type LaunchOptions = {
  /** A browser to use instead of what is found. */
  executable?: string | undefined;
  /** Where to look for a browser and for bubblewrap. */
  path?: string | undefined;
  cache_dir?: string | undefined;
  /** What one file of the browser's may have, a download among them. */
  max_file_bytes?: number | undefined;
};

type Program = { executable: string; readable: string[]; env: Record<string, string>; libraries: string | null };

const LAUNCH_MS = 30_000;
/** What comes in is counted packed, and may unpack to a thousand times as much. The picture of a long page still fits. */
const MAX_FILE_BYTES = 320 * 1024 ** 2;
const CLOSE_MS = 2000;

/** Starts one in the strongest containment that works here. */
export async function launchBrowser(options: LaunchOptions): Promise<LaunchedBrowser> {
  const program = await findProgram(options);
  const { max_file_bytes = MAX_FILE_BYTES } = options;
  const failures: unknown[] = [];
  for (const containment of await containments(options.path ?? '', program.readable)) {
    const withLibraries = program.libraries ? [null, program.libraries] : [null];
    for (const libraries of withLibraries) {
      try {
        return await launch({ ...program, max_file_bytes }, containment, libraries);
      } catch (error) {
        failures.push(error);
        if (!isMissingLibrary(error)) break;
      }
    }
  }
  throw new Failure('RUNNER_FAILED', {
    detail: `the browser does not start: ${reason(failures.at(-1))}`,
    cause: failures[0],
  });
}

async function findProgram({ executable, path, cache_dir }: LaunchOptions): Promise<Program> {
  const installed = executable ?? (await findChrome(path));
  if (installed)
    return { executable: installed, readable: [dirname(await realpath(installed))], env: {}, libraries: null };
  const { folder, libraries, fonts_conf, ...unpacked } = await unpackChromium(cache_dir);
  return { ...unpacked, readable: [folder], env: { FONTCONFIG_FILE: fonts_conf }, libraries };
}

type Limited = Program & { max_file_bytes: number };

async function launch(program: Limited, containment: Containment, libraries: string | null): Promise<LaunchedBrowser> {
  const home = await mkdtemp(join(tmpdir(), 'capstan-browser-'));
  try {
    const artifacts = join(home, 'artifacts');
    await mkdir(artifacts);
    const script = join(home, 'start');
    await writeFile(script, startScript(program, containment), { mode: 0o700 });
    // Large, and most workers never need it.
    const { chromium } = await import('playwright-core');
    const browser = await chromium.launch({
      executablePath: script,
      artifactsDir: artifacts,
      chromiumSandbox: containment.own_sandbox,
      args: FLAGS,
      proxy: { server: NOWHERE, bypass: '<-loopback>' },
      // Nothing of the worker's own environment.
      env: { HOME: home, LANG: 'C.UTF-8', ...program.env, ...(libraries && { LD_LIBRARY_PATH: libraries }) },
      // The worker answers to signals, and closes it.
      handleSIGHUP: false,
      handleSIGINT: false,
      handleSIGTERM: false,
      timeout: LAUNCH_MS,
    });
    return await launched(browser, containment.level, home);
  } catch (error) {
    await rm(home, { recursive: true, force: true });
    throw error;
  }
}

async function launched(browser: Browser, level: Level, home: string): Promise<LaunchedBrowser> {
  const [pid, profile] = (await readFile(join(home, 'started'), 'utf8')).split('\n');
  const leader = Number(pid);
  const folders = [home, profile || home];
  const watch = watchOrphan(leader, folders);
  let closing: Promise<void> | undefined;
  const close = async () => {
    // Nothing in it is to be saved, and asking politely takes ten times as long.
    killGroup(leader);
    await Promise.race([browser.close().catch(() => {}), delay(CLOSE_MS, undefined, { ref: false })]);
    watch.dismiss();
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 3 })));
  };
  return {
    browser,
    level,
    memory: () => treeMemory(leader),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/**
 * Playwright names the profile's folder in the arguments and starts the script as the leader of a process group; `exec`
 * keeps its number. The shell counts blocks of 512 bytes; a write past the limit fails, because its signal is ignored.
 */
const startScript = ({ executable, max_file_bytes }: Limited, { prefix }: Containment): string => `#!/bin/sh
trap '' XFSZ
ulimit -f ${Math.ceil(max_file_bytes / 512)}
home=\${0%/*}
profile=$home
for argument in "$@"; do
  case $argument in --user-data-dir=*) profile=\${argument#*=} ;; esac
done
printf '%s\\n%s\\n' "$$" "$profile" > "$home/started"
exec ${[...prefix, quoted(executable)].join(' ')} "$@"
`;

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // Gone already.
  }
}

const isMissingLibrary = (error: unknown) => reason(error).includes('error while loading shared libraries');
const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 1500);

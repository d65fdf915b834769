import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '@capstan/contracts';
import type { Browser } from 'playwright-core';
import { killUntilGone } from '../../exec/signal-run.js';
import { openInits } from '../../sandbox/init/open-inits.js';
import { factOf, type SandboxLevel } from '../../sandbox/sandbox.js';
import type { UserRange } from '../../sandbox/tool-users.js';
import { type Containment, containments, quoted } from './containment.js';
import { findChrome } from './find-chrome.js';
import { FLAGS, NOWHERE } from './flags.js';
import { watchOrphan } from './orphan-watch.js';
import { treeMemory } from './tree-memory.js';
import { unpackChromium } from './unpack-chromium.js';

export type LaunchedBrowser = {
  browser: Browser;
  level: SandboxLevel;
  /** The level, and what else is in force. */
  sandbox: string;
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
  /** Where the worker is root and has no bubblewrap, the last of these users runs the browser. */
  tool_uids?: UserRange | undefined;
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
  const ways = { has_init: await hasInit(), tool_uids: options.tool_uids };
  for (const containment of await containments(options.path ?? '', program.readable, ways)) {
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

/** Asked once for all the ways to start one. */
async function hasInit(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'capstan-browser-'));
  try {
    return openInits(folder) !== null;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Limited = Program & { max_file_bytes: number };

async function launch(program: Limited, containment: Containment, libraries: string | null): Promise<LaunchedBrowser> {
  const home = await mkdtemp(join(tmpdir(), 'capstan-browser-'));
  try {
    const artifacts = join(home, 'artifacts');
    await mkdir(artifacts);
    const script = join(home, 'start');
    await writeFile(script, startScript(program, containment, await writeInit(home, containment)), { mode: 0o700 });
    const { chromium } = await loadPlaywright();
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
    return await launched(browser, containment, home);
  } catch (error) {
    await rm(home, { recursive: true, force: true });
    throw error;
  }
}

/** Large, and most workers never need it. */
async function loadPlaywright() {
  try {
    return await import('playwright-core');
  } catch (cause) {
    throw new Failure('RUNNER_FAILED', {
      detail: 'browser tools need the package playwright-core, which is not installed on this worker',
      suggestion: 'Run `npm install playwright-core` beside Capstan, or install Capstan without --omit=optional.',
      retryable: false,
      cause,
    });
  }
}

async function launched(browser: Browser, containment: Containment, home: string): Promise<LaunchedBrowser> {
  const [pid, profile] = (await readFile(join(home, 'started'), 'utf8')).split('\n');
  const leader = Number(pid);
  const folders = [home, profile || home];
  const watch = watchOrphan(leader, folders);
  let closing: Promise<void> | undefined;
  const close = async () => {
    // Nothing in it is to be saved, and asking politely takes ten times as long.
    const stopKilling = killUntilGone(containment, () => [leader], leader);
    await Promise.race([browser.close().catch(() => {}), delay(CLOSE_MS, undefined, { ref: false })]);
    for (const until = performance.now() + CLOSE_MS; isThere(leader) && performance.now() < until; ) await delay(5);
    stopKilling();
    killGroup(leader);
    watch.dismiss();
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 3 })));
  };
  return {
    browser,
    level: containment.level,
    sandbox: factOf(containment),
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
const startScript = (
  { executable, max_file_bytes }: Limited,
  { prefix, identity }: Containment,
  init: string[],
): string => `#!/bin/sh
trap '' XFSZ
ulimit -f ${Math.ceil(max_file_bytes / 512)}
home=\${0%/*}
profile=$home
for argument in "$@"; do
  case $argument in --user-data-dir=*) profile=\${argument#*=} ;; esac
done
printf '%s\\n%s\\n' "$$" "$profile" > "$home/started"
${identity === null ? '' : `chown -R ${identity.uid}:${identity.gid} "$home/artifacts" "$profile" && chmod 711 "$home"`}
exec ${[...prefix, ...init, quoted(executable)].join(' ')} "$@"
`;

/** The path of the `init` that this containment wants, as a word of the command line. */
async function writeInit(home: string, { init }: Containment): Promise<string[]> {
  if (init === null) return [];
  const inits = openInits(join(home, 'init'));
  if (inits === null) throw new Error('programs in the temporary directory cannot be executed');
  return [quoted(join(inits.directory, inits.nameOf(init)))];
}

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // Gone already.
  }
}

const isMissingLibrary = (error: unknown) => reason(error).includes('error while loading shared libraries');
const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 1500);

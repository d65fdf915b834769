import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '@capstan/contracts';
import { factOf, killUntilGone, openInits, type SandboxLevel, type UserRange } from '@capstan/sandbox';
import type { Browser } from 'playwright-core';
import { type Containment, containments, quoted } from './containment.js';
import { findChrome } from './find-chrome.js';
import { FLAGS, NOWHERE } from './flags.js';
import { watchOrphan } from './orphan-watch.js';
import { treeMemory } from './tree-memory.js';
import { unpackChromium } from './unpack-chromium.js';

export type LaunchedBrowser = {
  browser: Browser;
  level: SandboxLevel;
  /** The sandbox level and the other active protections. */
  sandbox: string;
  memory(): Promise<number | null>;
  /** Kills all its processes and removes its files. */
  close(): Promise<void>;
};

export type LaunchOptions = {
  /** A browser to use instead of searching for one. */
  executable?: string | undefined;
  /** Where to look for a browser and for bubblewrap. */
  path?: string | undefined;
  cache_dir?: string | undefined;
  /** The size limit of any single file that the browser writes, downloads included. */
  max_file_bytes?: number | undefined;
  /** If the worker is root and has no bubblewrap, the last of these users runs the browser. */
  tool_uids?: UserRange | undefined;
};

type Program = { executable: string; readable: string[]; env: Record<string, string>; libraries: string | null };

const LAUNCH_MS = 30_000;
/** Incoming data is counted compressed and may expand a thousandfold. A screenshot of a long page still fits. */
const MAX_FILE_BYTES = 320 * 1024 ** 2;
const CLOSE_MS = 2000;

/** Starts a browser in the strongest containment that works on this machine. */
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

/** Checked once for all ways to start one. */
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
      // Without the worker's own environment.
      env: { HOME: home, LANG: 'C.UTF-8', ...program.env, ...(libraries && { LD_LIBRARY_PATH: libraries }) },
      // The worker handles signals and closes the browser.
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

/** Large, and not needed by most workers. */
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
    // Killed, because there is nothing to save and a regular exit takes ten times as long.
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
 * Playwright passes the profile folder as an argument and starts the script as the leader of a process group; `exec` keeps its pid. The shell's file
 * size limit is in blocks of 512 bytes. A write beyond the limit fails, because its signal is ignored.
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

/** The path of `init` for this containment, as a word of the command line. */
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
    // It has already exited.
  }
}

const isMissingLibrary = (error: unknown) => reason(error).includes('error while loading shared libraries');
const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 1500);

import { lstat, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { Failure } from '@capstan/contracts';
import { execa } from 'execa';

export type Unpacked = {
  executable: string;
  /** The folder with all its files. */
  folder: string;
  /** Libraries for machines that lack them. */
  libraries: string;
  fonts_conf: string;
};

const UNPACK_MS = 120_000;
// The package itself unpacks to fixed names in the temporary folder, where anyone could have put files first, and it accepts a partly written file as
// complete. In a process with its own temporary folder, neither matters. The variable includes libraries that minimal systems lack.
const SCRIPT = "const { default: chromium } = await import('@sparticuz/chromium'); await chromium.executablePath();";
const WITH_LIBRARIES = { AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' };

/** Unpacks the Chromium of the npm package once per machine and user. Concurrent processes end up with the same copy. */
export async function unpackChromium(root = tmpdir()): Promise<Unpacked> {
  if (process.platform !== 'linux' || process.arch !== 'x64') throw noBrowser('this machine is not Linux on x64');
  const folder = join(root, await folderName());
  const state = await stateOf(folder);
  if (state !== 'complete') {
    await removeStale(root, folder);
    // Only a copy that was seen to be incomplete is removed. If there was none, another process may just have created one.
    if (state === 'incomplete') await rm(folder, { recursive: true, force: true });
    const staging = await mkdtemp(`${folder}.`);
    try {
      await unpackInto(staging, folder);
      await moveInto(staging, folder);
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  }
  return {
    executable: join(folder, 'chromium'),
    folder,
    libraries: join(folder, 'al2023', 'lib'),
    fonts_conf: join(folder, 'fonts.conf'),
  };
}

async function unpackInto(staging: string, folder: string): Promise<void> {
  const { failed, stderr } = await execa(process.execPath, ['--input-type=module', '--eval', SCRIPT], {
    cwd: import.meta.dirname,
    extendEnv: false,
    env: { TMPDIR: staging, HOME: staging, ...WITH_LIBRARIES },
    timeout: UNPACK_MS,
    reject: false,
  });
  if (failed) throw noBrowser(`@sparticuz/chromium could not be unpacked: ${stderr.slice(-500)}`);
  await writeFile(join(staging, 'fonts.conf'), fontsConf(folder));
}

/** If another process was faster, its copy is used. */
async function moveInto(staging: string, folder: string): Promise<void> {
  try {
    await rename(staging, folder);
  } catch (error) {
    if ((await stateOf(folder)) !== 'complete') throw error;
  }
}

/**
 * The name is predictable, so the folder is only used if nobody else can have created or changed it. Files may be missing, because cleaners of the
 * temporary folder delete the oldest ones.
 */
async function stateOf(folder: string): Promise<'absent' | 'incomplete' | 'complete'> {
  const found = await lstat(folder).catch(() => null);
  if (found === null) return 'absent';
  if (!found.isDirectory() || found.uid !== userInfo().uid || (found.mode & 0o077) !== 0)
    throw noBrowser(`${folder} belongs to another user or is open to others; remove it`);
  const parts = await Promise.all(
    ['chromium', 'fonts.conf'].map((name) => lstat(join(folder, name)).catch(() => null)),
  );
  return parts.every((part) => part?.isFile()) ? 'complete' : 'incomplete';
}

/** Removes leftovers of processes that were killed while unpacking. */
async function removeStale(root: string, folder: string): Promise<void> {
  const started = (await readdir(root)).map((name) => join(root, name)).filter((path) => path.startsWith(`${folder}.`));
  const old = await Promise.all(
    started.map(async (path) => {
      const { mtimeMs } = await lstat(path).catch(() => ({ mtimeMs: Date.now() }));
      return Date.now() - mtimeMs > 5 * UNPACK_MS ? [path] : [];
    }),
  );
  await Promise.all(old.flat().map((path) => rm(path, { recursive: true, force: true })));
}

export const folderName = async (): Promise<string> => `capstan-chromium-${await packageVersion()}-${userInfo().uid}`;

async function packageVersion(): Promise<string> {
  const entry = findPackage();
  // build/cjs/index.cjs
  const manifest: unknown = JSON.parse(await readFile(join(dirname(entry), '..', '..', 'package.json'), 'utf8'));
  const version = typeof manifest === 'object' && manifest && 'version' in manifest ? manifest.version : undefined;
  return String(version);
}

function findPackage(): string {
  try {
    return createRequire(import.meta.url).resolve('@sparticuz/chromium');
  } catch {
    throw noBrowser('neither a Chrome or Chromium on the PATH nor the package @sparticuz/chromium is installed');
  }
}

const fontsConf = (folder: string) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <dir>/usr/local/share/fonts</dir>
  <dir>${folder}/fonts/fonts</dir>
  <cachedir>/tmp/capstan-fonts-cache</cachedir>
</fontconfig>
`;

const noBrowser = (detail: string): Failure =>
  new Failure('EXECUTABLE_NOT_FOUND', {
    detail: `no browser: ${detail}`,
    suggestion:
      'Install chromium or google-chrome on the worker, or run `npm install @sparticuz/chromium` beside Capstan.',
  });

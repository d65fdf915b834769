import { existsSync, realpathSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { isExecutable, isVisible, type Mount, type Sandbox, type SystemPart } from '@capstan/sandbox';

export type Surroundings = {
  sandbox: Sandbox;
  system: readonly SystemPart[];
  work: Mount;
  tools: Mount | null;
  /** Directories to search, as paths on the worker. */
  path: readonly string[];
};

/** A program that exists: its path for the tool, and the file on the worker's machine. */
export type Found = {
  file: string;
  real_file: string;
  /** It is in the work directory. */
  is_own: boolean;
  /** It came with the tool's extension. */
  is_extension?: boolean;
  mount?: Mount;
};

export type NotFound = 'missing' | 'not_executable';

/** The folder inside the sandbox for a program that is not part of the visible system. */
const OWN_BINARIES = '/capstan/bin';

/**
 * Looked up before anything starts, by the names that the tool will see: its extension's own tools, then PATH. Node itself
 * is always there: it is what the worker runs on.
 */
export const findProgram = (file: string, surroundings: Surroundings): Found | NotFound => {
  const { sandbox, system, work, tools, path } = surroundings;
  const visible = (candidate: string) => !sandbox.maps_paths || isVisible(system, candidate);
  if (file.includes('/')) {
    const inside = resolve(sandbox.maps_paths ? work.path : work.source, file);
    const host = hostPath(inside, surroundings);
    if (host === null || !existsSync(host)) return 'missing';
    if (!isExecutable(host)) return 'not_executable';
    return { file: inside, real_file: realpathSync(host), is_own: within(work.source, realpathSync(host)) };
  }
  if (tools !== null && isExecutable(join(tools.source, file))) {
    const host = join(tools.source, file);
    return {
      file: join(sandbox.maps_paths ? tools.path : tools.source, file),
      real_file: realpathSync(host),
      is_own: false,
      is_extension: true,
    };
  }
  const found = path.map((directory) => join(directory, file)).find((each) => visible(each) && isExecutable(each));
  if (found !== undefined) return { file: found, real_file: realpathSync(found), is_own: false };
  return file === 'node' ? ownNode(sandbox) : 'missing';
};

const ownNode = (sandbox: Sandbox): Found => {
  const real_file = process.execPath;
  if (!sandbox.maps_paths) return { file: real_file, real_file, is_own: false };
  const inside = join(OWN_BINARIES, basename(real_file));
  return { file: inside, real_file, is_own: false, mount: { source: real_file, path: inside, file: true } };
};

/** The file on the worker's machine that the tool sees at this path. Null if there is none. */
const hostPath = (inside: string, { sandbox, system, work, tools }: Surroundings): string | null => {
  if (!sandbox.maps_paths) return inside;
  for (const mount of [work, ...(tools === null ? [] : [tools])])
    if (within(mount.path, inside)) return join(mount.source, inside.slice(mount.path.length));
  return isVisible(system, inside) ? inside : null;
};

const within = (directory: string, file: string): boolean => file === directory || file.startsWith(`${directory}/`);

import { existsSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { Failure, type NewMcpServer } from '@capstan/contracts';
import { packageOf } from '../exec/package-of.js';
import { findExecutable, isExecutable } from '../sandbox/find-executable.js';
import type { Mount } from '../sandbox/sandbox.js';
import { isVisible, type SystemPart } from '../sandbox/system-view.js';

/** Where the program is, or a Failure that says what to install. */
export function findProgram(command: string, path: string): string {
  const file = command.includes('/')
    ? isAbsolute(command) && isExecutable(command) && command
    : findExecutable(command, path.split(delimiter).filter(isAbsolute));
  if (file) return file;
  throw new Failure('EXECUTABLE_NOT_FOUND', {
    detail: command.includes('/')
      ? `${command} is no program on the worker; give its absolute path`
      : `${command} was not found in the worker's PATH (${path}); install it there, on Debian: apt-get install ${packageOf(command)}`,
  });
}

/**
 * What a server needs to see of the machine beside the system: the installation its program belongs to, and the files and
 * folders that its arguments name, because an operator wrote them there. All of it read-only, but for the folders that it
 * was given to write to.
 */
export function programMounts(
  file: string,
  { args = [], permissions = [], paths = [] }: Pick<NewMcpServer, 'args' | 'permissions' | 'paths'>,
  system: readonly SystemPart[],
): Mount[] {
  const given = permissions.includes('paths') ? [...paths, ...args].flatMap(namedFolder) : [];
  const wanted = [installationOf(file), installationOf(realpathSync(file)), ...args.flatMap(namedPaths)];
  const readOnly = wanted.filter((path) => path !== '/' && !given.includes(path) && !isVisible(system, path));
  return [...new Set([...readOnly, ...given])]
    .sort((a, b) => a.length - b.length)
    .map((path) => ({
      ...{ source: path, path, file: !statSync(path).isDirectory() },
      ...(given.includes(path) ? { writable: true } : {}),
    }));
}

/** Folders of the system itself stay as they are, whoever names them. */
function namedFolder(path: string): string[] {
  if (!isAbsolute(path) || !existsSync(path) || !statSync(path).isDirectory()) return [];
  const real = realpathSync(path);
  return SYSTEM.test(`${real}/`) ? [] : [...new Set([real, path])];
}

const SYSTEM = /^\/(?:$|(?:bin|boot|etc|lib\w*|proc|sbin|sys|usr)\/|(?:dev|run)\/$)/;

/** `…/bin/program` belongs to `…`, where its libraries are; anything else to its folder. */
const installationOf = (program: string): string => {
  const folder = dirname(program);
  return folder.endsWith('/bin') ? dirname(folder) : folder;
};

function namedPaths(arg: string): string[] {
  if (!isAbsolute(arg) || !existsSync(arg)) return [];
  const real = realpathSync(arg);
  const around = statSync(real).isDirectory() ? [real] : projectOf(real);
  return real === arg ? around : [...around, arg];
}

const PROJECT_FILES = ['package.json', 'pyproject.toml', 'requirements.txt'];

/** A script needs the project it belongs to, and the packages that Node looks for in the folders above. */
function projectOf(script: string): string[] {
  const folders = ancestors(dirname(script));
  const inside = script.indexOf('/node_modules/');
  const project = folders.find((folder) => PROJECT_FILES.some((name) => existsSync(join(folder, name))));
  return [
    inside < 0 ? (project ?? dirname(script)) : join(script.slice(0, inside), 'node_modules'),
    ...folders.map((folder) => join(folder, 'node_modules')).filter((folder) => existsSync(folder)),
  ];
}

const ancestors = (folder: string): string[] =>
  dirname(folder) === folder ? [] : [folder, ...ancestors(dirname(folder))];

import { existsSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { Failure, type NewMcpServer } from '@capstan/contracts';
import { findExecutable, isExecutable, isVisible, type Mount, type SystemPart } from '@capstan/sandbox';
import { packageOf } from '../exec/contain/missing-program.js';

/** The path of the program. Throws a Failure that says what to install if it is missing. */
export function findProgram(command: string, path: string): string {
  const file = command.includes('/')
    ? isAbsolute(command) && isExecutable(command) && command
    : findExecutable(command, path.split(delimiter).filter(isAbsolute));
  if (file) return file;
  throw new Failure('EXECUTABLE_NOT_FOUND', {
    detail: command.includes('/')
      ? `${command} is no program on the worker; give its absolute path`
      : `${command} was not found on the worker; install it there, on Debian: apt-get install ${packageOf(command)}`,
  });
}

/**
 * What a server sees of the machine besides the system: the installation of its program, and the files and folders that its
 * arguments name, because an operator wrote them. All of it is read-only, except the folders that it was given to write to.
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

/** Folders of the system are never writable, even if they are named. */
function namedFolder(path: string): string[] {
  if (!isAbsolute(path) || !existsSync(path) || !statSync(path).isDirectory()) return [];
  const real = realpathSync(path);
  return SYSTEM.test(`${real}/`) ? [] : [...new Set([real, path])];
}

const SYSTEM = /^\/(?:$|(?:bin|boot|etc|lib\w*|proc|sbin|sys|usr)\/|(?:dev|run)\/$)/;

/** The installation of `…/bin/program` is `…`, where its libraries are. For other programs it is their folder. */
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

/** A script needs its project, and the packages that Node looks up in parent folders. */
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

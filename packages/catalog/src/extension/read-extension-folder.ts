import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, realpath } from 'node:fs/promises';
import { basename, isAbsolute, join, relative } from 'node:path';
import { Failure } from '@capstan/contracts';
import type { ExtensionSource } from './parse-extension.js';

const MAX_DOCUMENT_BYTES = 1_048_576;
const MAX_TOOL_BYTES = 16_777_216;
const MAX_TOOLS_BYTES = 33_554_432;
const MAX_TOOLS = 256;
const MAX_DEPTH = 8;

/**
 * Reads an extension from a folder: only the files that belong to an extension, only regular files inside the folder, and
 * only up to a size limit.
 */
export async function readExtensionFolder(path: string): Promise<ExtensionSource> {
  if (!isAbsolute(path)) throw cannotRead(path, 'must be an absolute path');
  const folder = await realpath(path).catch((error: unknown) => {
    throw cannotRead(path, reasonOf(error));
  });
  if (!(await lstat(folder)).isDirectory()) throw cannotRead(path, 'is not a folder');
  const manifest = await requireText(folder, 'manifest.json');
  const commands =
    (await readText(folder, 'commands/commands.yaml')) ??
    (await readText(folder, 'commands.yaml')) ??
    (await requireText(folder, 'commands/commands.yml'));
  const usage = await readText(folder, 'docs/USAGE.md');
  const tools = await readTools(folder);
  for (const script of scriptsIn(commands)) tools.set(basename(script), await requireBytes(folder, script));
  return { manifest, commands, usage, tools };
}

/** The files below `tools/`: executables and the files they need. */
async function readTools(folder: string): Promise<Map<string, Uint8Array>> {
  const tools = new Map<string, Uint8Array>();
  let total = 0;
  for (const path of await filesIn(folder, 'tools')) {
    const content = await requireBytes(folder, path);
    total += content.length;
    if (total > MAX_TOOLS_BYTES) throw cannotRead('tools/', `is larger than ${MAX_TOOLS_BYTES} bytes`);
    tools.set(path.slice('tools/'.length), content);
  }
  return tools;
}

/** Links are refused rather than followed, and the author is told. */
async function filesIn(folder: string, path: string): Promise<string[]> {
  if (path.split('/').length > MAX_DEPTH) throw cannotRead(path, `lies deeper than ${MAX_DEPTH} folders`);
  const entries = await readdir(join(folder, path), { withFileTypes: true }).catch(() => []);
  if (entries.length > MAX_TOOLS) throw cannotRead(`${path}/`, `has more than ${MAX_TOOLS} files`);
  const files: string[] = [];
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const inside = `${path}/${entry.name}`;
    if (entry.isDirectory()) files.push(...(await filesIn(folder, inside)));
    else files.push(inside);
    if (files.length > MAX_TOOLS) throw cannotRead('tools/', `has more than ${MAX_TOOLS} files`);
  }
  return files;
}

/** The scripts of AgentOS' earlier format, which are beside the file that names them. */
function scriptsIn(commands: string): string[] {
  return [...commands.matchAll(/^\s*(?:- )?entrypoint:\s*["']?([\w./-]+)["']?\s*$/gm)].flatMap(
    ([, path]) => path ?? [],
  );
}

async function requireText(folder: string, path: string): Promise<string> {
  const text = await readText(folder, path);
  if (text === null) throw cannotRead(path, 'is missing');
  return text;
}

async function readText(folder: string, path: string): Promise<string | null> {
  const bytes = await readInside(folder, path, MAX_DOCUMENT_BYTES);
  return bytes === null ? null : Buffer.from(bytes).toString('utf8');
}

async function requireBytes(folder: string, path: string): Promise<Uint8Array> {
  const bytes = await readInside(folder, path, MAX_TOOL_BYTES);
  if (bytes === null) throw cannotRead(path, 'is missing');
  return bytes;
}

/** Null if the file does not exist. It is checked after opening, so that it cannot be swapped in between. */
async function readInside(folder: string, path: string, limit: number): Promise<Uint8Array | null> {
  const file = await open(join(folder, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
      throw cannotRead(path, codeOf(error) === 'ELOOP' ? 'is a symbolic link' : reasonOf(error));
    },
  );
  if (file === null) return null;
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw cannotRead(path, 'is not a plain file');
    if (stats.size > limit) throw cannotRead(path, `is larger than ${limit} bytes`);
    await requireInside(folder, path);
    return await readUpTo(file, limit);
  } finally {
    await file.close();
  }
}

/** A parent folder may be a link as well. */
async function requireInside(folder: string, path: string): Promise<void> {
  const inside = relative(folder, await realpath(join(folder, path)));
  if (inside.startsWith('..') || isAbsolute(inside) || inside !== join(path))
    throw cannotRead(path, 'lies outside of the folder');
}

async function readUpTo(file: FileHandle, limit: number): Promise<Uint8Array> {
  const content = await file.readFile();
  if (content.length > limit) throw cannotRead('a file', `grew over ${limit} bytes`);
  return content;
}

const codeOf = (error: unknown): string => (isErrorWithCode(error) ? error.code : '');
const isErrorWithCode = (error: unknown): error is { code: string } =>
  error instanceof Error && 'code' in error && typeof error.code === 'string';
const reasonOf = (error: unknown): string =>
  codeOf(error) === 'ENOENT' ? 'is not there' : codeOf(error) || 'cannot be read';

const cannotRead = (path: string, why: string): Failure =>
  new Failure('INVALID_REQUEST', {
    detail: `${path} ${why}.`,
    suggestion: 'An extension is a folder with manifest.json and commands/commands.yaml, on the gateway’s machine.',
    context: { errors: [{ file: path, field: '', message: why }] },
  });

import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, realpath } from 'node:fs/promises';
import { basename, isAbsolute, join, relative } from 'node:path';
import { Failure } from '@capstan/contracts';
import type { ExtensionSource } from './parse-extension.js';

const MAX_DOCUMENT_BYTES = 1_048_576;
const MAX_TOOL_BYTES = 16_777_216;
const MAX_TOOLS_BYTES = 33_554_432;
const MAX_TOOLS = 64;

/**
 * An extension in a folder. Only what an extension consists of is read, only plain files that lie in the folder itself,
 * and only so much of them.
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

async function readTools(folder: string): Promise<Map<string, Uint8Array>> {
  const names = await readdir(join(folder, 'tools')).catch(() => []);
  if (names.length > MAX_TOOLS) throw cannotRead('tools/', `has more than ${MAX_TOOLS} files`);
  const tools = new Map<string, Uint8Array>();
  let total = 0;
  for (const name of names.sort()) {
    const content = await requireBytes(folder, `tools/${name}`);
    total += content.length;
    if (total > MAX_TOOLS_BYTES) throw cannotRead('tools/', `is larger than ${MAX_TOOLS_BYTES} bytes`);
    tools.set(name, content);
  }
  return tools;
}

/** The scripts of AgentOS' earlier format, which lie beside the file that names them. */
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

/** Null when it is not there. The file is judged after it was opened, so that nobody can put another in its place. */
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

/** A folder on the way may be a link too. */
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

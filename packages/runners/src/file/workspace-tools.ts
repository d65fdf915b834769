import { type FileHandle, mkdir, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { DEFAULT_TENANT, type Limits } from '@capstan/contracts';
import { invalidInputs, toolError } from '../builtin/builtin-tool.js';
import type { Call, RunOutcome } from '../runner.js';
import { checkedWorkspace } from './checked-workspace.js';
import { toBytes, toShown } from './content.js';
import { codeOf } from './descend.js';
import { matchesGlob } from './glob.js';
import { linuxWorkspace } from './linux-workspace.js';
import { NotAFile, PathRefused } from './path-refused.js';
import type { FileTool } from './session-tools.js';
import type { Admit, Workspace } from './workspace.js';

export type WorkspaceOptions = { workspace: string; openWorkspace?: (root: string) => Workspace };

type Act = (call: Call, files: Workspace, path: string, admit: Admit) => Promise<RunOutcome>;

const DEFAULT_MAX_BYTES = 10_485_760;

/** `fs.read` and `fs.write`. The folder is created at the first call. */
export function createWorkspaceTools({
  workspace,
  openWorkspace = forThisSystem,
}: WorkspaceOptions): Map<string, FileTool> {
  const roots = new Map<string, Promise<{ root: string; files: Workspace }>>();
  const rootOf = (tenant: string) => {
    const known = roots.get(tenant) ?? openRoot(folderOf(workspace, tenant), openWorkspace);
    roots.set(tenant, known);
    // A failure may be temporary, such as a disk that is not mounted yet: the next call tries again.
    known.catch(() => roots.delete(tenant));
    return known;
  };
  const tool =
    (act: Act): FileTool =>
    async (call) => {
      const { path } = call.inputs;
      if (typeof path !== 'string' || path === '' || path.includes('\u0000'))
        return invalidInputs('path must be the path of a file');
      try {
        const { root, files } = await rootOf(call.tenant);
        return await act(call, files, beneath(root, path), (real) => checkPath(call.limits, root, real));
      } catch (error) {
        return toFailure(path, error);
      }
    };
  return new Map([
    ['fs.read', tool(readFile)],
    ['fs.write', tool(writeFile)],
  ]);
}

const forThisSystem = process.platform === 'linux' ? linuxWorkspace : checkedWorkspace;

/** Tenants do not share files: the default tenant uses the folder itself, every other one a folder beside it. */
const folderOf = (workspace: string, tenant: string) =>
  tenant === DEFAULT_TENANT ? workspace : join(dirname(workspace), `${basename(workspace)}.${tenant}`);

async function openRoot(folder: string, openWorkspace: (root: string) => Workspace) {
  await mkdir(folder, { recursive: true });
  const root = await realpath(folder);
  return { root, files: openWorkspace(root) };
}

/** An absolute path is accepted only if it is inside the workspace. */
function beneath(root: string, path: string): string {
  if (!isAbsolute(path)) return path;
  if (path === root || path.startsWith(`${root}/`)) return path.slice(root.length + 1);
  throw new PathRefused('path_escape', `${path} is not in the workspace; give a path relative to it`);
}

const readFile: Act = async ({ inputs, limits, redact }, files, path, admit) => {
  const { encoding = 'text' } = inputs;
  if (encoding !== 'text' && encoding !== 'base64') return invalidInputs('encoding must be text or base64');
  const { handle, real } = await files.open(path, admit);
  try {
    const bytes = await readBounded(handle, real, limits.max_size_bytes ?? DEFAULT_MAX_BYTES);
    const { truncated, ...shown } = toShown(bytes, encoding, limits.max_output_bytes, redact);
    const payload = { path: real, ...shown, size_bytes: bytes.length };
    return { success: true, payload, truncated, facts: { observed: { files_read: [real] } } };
  } finally {
    await handle.close();
  }
};

/** Bounded, because a device has no size and a file may grow while it is read. */
async function readBounded(handle: FileHandle, path: string, max: number): Promise<Uint8Array> {
  const about = await handle.stat();
  if (!about.isFile()) throw new NotAFile(`${path} is not a file`);
  if (about.size > max) throw tooLarge(path, max);
  const buffer = Buffer.alloc(Math.min(about.size + 1, max + 1));
  let size = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, size, buffer.length - size, size);
    size += bytesRead;
    if (bytesRead === 0) return buffer.subarray(0, size);
    // The file has grown in the meantime. The bytes at its original size are returned.
    if (size === buffer.length) return buffer.subarray(0, size - 1);
  }
}

const tooLarge = (path: string, max: number) =>
  new PathRefused('max_size_bytes', `${path} is larger than ${max} bytes`);

const writeFile: Act = async ({ inputs, limits }, files, path, admit) => {
  const decoded = toBytes(inputs.content, inputs.encoding ?? 'text');
  if ('problem' in decoded) return invalidInputs(decoded.problem);
  const max = limits.max_size_bytes ?? DEFAULT_MAX_BYTES;
  if (decoded.bytes.length > max) throw tooLarge(path, max);
  const { real, created } = await files.write(path, decoded.bytes, admit);
  const payload = { path: real, size_bytes: decoded.bytes.length, created };
  return { success: true, payload, facts: { observed: { files_written: [real] } } };
};

const SAID: Record<string, string> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'has a file where a folder should be',
  EISDIR: 'is a folder',
  EACCES: 'may not be opened by the worker',
  EPERM: 'may not be opened by the worker',
  ENAMETOOLONG: 'has too long a name',
  ENOSPC: 'does not fit on the disk',
  ENXIO: 'is not a file',
};

function toFailure(path: string, error: unknown): RunOutcome {
  if (error instanceof PathRefused) {
    const { rule } = error;
    return {
      success: false,
      error: `${rule}: ${error.message}`,
      kind: 'PATH_DENIED',
      retryable: false,
      rule,
      payload: { path, rule_matched: rule },
    };
  }
  if (error instanceof NotAFile) return toolError(error.message);
  const said = SAID[codeOf(error)];
  if (said === undefined) throw error;
  return toolError(`${path} ${said}`);
}

/** Throws if the limits of the call do not allow a path. `path` is relative to the workspace and contains no links. */
function checkPath(limits: Limits, root: string, path: string): void {
  const { allow_paths, also_allow_paths = [], deny_paths = [], allow_hidden = false } = limits;
  const fits = (glob: string) => matchesGlob(glob, glob.startsWith('/') ? `${root}/${path}` : path);
  if (!allow_hidden && path.split('/').some((name) => name.startsWith('.') && name !== '.'))
    throw new PathRefused('allow_hidden', `${path} is hidden, and hidden files are not allowed`);
  const lists = allow_paths ? [allow_paths, ...also_allow_paths] : also_allow_paths;
  if (!lists.every((globs) => globs.some(fits))) throw new PathRefused('allow_paths', `${path} is not in allow_paths`);
  const denied = deny_paths.find(fits);
  if (denied !== undefined) throw new PathRefused(`deny_paths[${denied}]`, `${path} is denied by ${denied}`);
}

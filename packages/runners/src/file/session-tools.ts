import { type Json, type SessionFile, toSessionPath } from '@capstan/contracts';
import { invalidInputs, NO_SESSION, toolError } from '../builtin/builtin-tool.js';
import type { Call, RunOutcome } from '../runner.js';
import type { Removed, SessionFiles, Written } from '../session-port.js';
import { toBytes, toShown } from './content.js';
import { matchesName } from './glob.js';
import { compilePattern, grep, MAX_MATCHES } from './grep.js';
import { createRoom, fitting } from './room.js';

export type FileTool = (call: Call) => Promise<RunOutcome>;

type SessionTool = (files: SessionFiles, path: string, call: Call) => Promise<RunOutcome>;

const MAX_ENTRIES = 10_000;
/** The number of searched files that are listed in the facts. */
const MAX_SEEN = 1000;

/** Requires a session and normalizes the path. */
const withPath =
  (tool: SessionTool, ofRoot?: string): FileTool =>
  async (call) => {
    if (!call.session) return NO_SESSION;
    const normal = toSessionPath(call.inputs.path ?? ofRoot);
    return 'problem' in normal ? invalidInputs(normal.problem) : tool(call.session.files, normal.path, call);
  };

/** In observed effects, the prefix distinguishes files of sessions from those of the workspace. */
const seen = (path: string) => `session:${path}`;
const read = (...paths: string[]) => ({ facts: { observed: { files_read: paths.map(seen) } } });
const wrote = (path: string) => ({ facts: { observed: { files_written: [seen(path)] } } });

const readFile = withPath(async (files, path, { limits, redact }) => {
  const file = await files.read(path);
  if (!file) return toolError(`there is no file ${path}`);
  if (file.is_directory) return toolError(`${path} is a folder; list_directory shows what is in it`);
  const { content, encoding, truncated } = toShown(file.content, file.encoding, limits.max_output_bytes, redact);
  return { success: true, payload: { path, content, encoding, size_bytes: file.size_bytes }, truncated, ...read(path) };
});

const writeFile = withPath(async (files, path, { inputs }) => {
  const { content, encoding = 'text' } = inputs;
  const decoded = toBytes(content, encoding);
  if ('problem' in decoded) return invalidInputs(decoded.problem);
  const written = await files.write(path, decoded.bytes, encoding === 'base64' ? 'base64' : 'text');
  if (written.kind !== 'written') return toolError(whyNotWritten(path, written));
  const payload = { path, size_bytes: decoded.bytes.length, created: written.created };
  return { success: true, payload, ...wrote(path) };
});

function whyNotWritten(path: string, refused: Exclude<Written, { kind: 'written' }>): string {
  if (refused.kind === 'full') {
    const what = { file: 'a file holds at most', session: 'a session holds at most', count: 'a session has at most' };
    return `${path} was not written: ${what[refused.limit]} ${refused.max} ${refused.limit === 'count' ? 'files and folders' : 'bytes'}`;
  }
  const why = {
    not_a_directory: 'a part of its path is a file, not a folder',
    is_a_directory: 'it is a folder',
    readonly: 'it may only be read',
  };
  return `${path} was not written: ${why[refused.why]}`;
}

const listDirectory = withPath(async (files, path, { limits }) => {
  const entries = await files.list(path, MAX_ENTRIES + 1);
  if (!entries) return toolError(`there is no folder ${path}`);
  const room = createRoom(limits.max_output_bytes, { path, entries: [], count: MAX_ENTRIES });
  const shown = fitting(entries.slice(0, MAX_ENTRIES).map(toEntry), room);
  return {
    success: true,
    payload: { path, entries: shown, count: shown.length },
    truncated: entries.length > shown.length,
  };
}, '/');

const toEntry = ({ name, path, is_directory, size_bytes, updated_at }: SessionFile): Json => ({
  name,
  path,
  is_directory,
  size_bytes,
  updated_at,
});

const grepFiles: FileTool = async ({ session, inputs, signal, redact, limits }) => {
  if (!session) return NO_SESSION;
  const { pattern, path_pattern } = inputs;
  if (typeof pattern !== 'string') return invalidInputs('pattern must be text');
  const compiled = compilePattern(pattern);
  if (typeof compiled === 'string') return invalidInputs(compiled);
  const wanted = (path: string) => typeof path_pattern !== 'string' || matchesName(path_pattern, path);
  const room = createRoom(limits.max_output_bytes, { pattern, matches: [], match_count: MAX_MATCHES });
  const options = { wanted, signal, redact, room };
  const { matches, truncated, searched } = await grep(session.files.texts(), compiled, options);
  return {
    success: true,
    payload: { pattern, matches, match_count: matches.length },
    truncated,
    ...read(...searched.slice(0, MAX_SEEN)),
  };
};

const deleteFile = withPath(async (files, path, { inputs }) => {
  if (path === '/' && inputs.recursive !== true)
    return toolError('/ is not empty; recursive: true deletes what is in it');
  const removed = await files.remove(path, inputs.recursive === true);
  if (removed.kind === 'refused') return notRemoved(path, removed.why);
  return { success: true, payload: { path, deleted: true, count: removed.count }, ...wrote(path) };
});

function notRemoved(path: string, why: Extract<Removed, { kind: 'refused' }>['why']): RunOutcome {
  if (why === 'absent') return { success: true, payload: { path, deleted: false, count: 0 } };
  return toolError(
    why === 'readonly'
      ? `${path}, or something in it, may only be read`
      : `${path} is not empty; recursive: true deletes what is in it`,
  );
}

const statFile = withPath(async (files, path) => {
  const file = await files.stat(path);
  return {
    success: true,
    payload: file ? { exists: true, ...file } : { path, name: path.slice(path.lastIndexOf('/') + 1), exists: false },
  };
});

export const SESSION_TOOLS: ReadonlyMap<string, FileTool> = new Map([
  ['cap:session_file_system:read_file', readFile],
  ['cap:session_file_system:write_file', writeFile],
  ['cap:session_file_system:list_directory', listDirectory],
  ['cap:session_file_system:grep_files', grepFiles],
  ['cap:session_file_system:delete_file', deleteFile],
  ['cap:session_file_system:stat_file', statFile],
]);

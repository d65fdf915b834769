import { visibleJson } from '@capstan/contracts/visible-text';
import { EXIT, type ExitCode, exitCodeOfProblem } from './exit-code.js';
import { formatFailure } from './format/failure.js';
import { describeMistakes } from './format/mistakes.js';
import type { Session } from './session.js';
import { UsageError } from './usage-error.js';

/** Reports an error and its suggestion on stderr, as JSON with --json, and returns the exit code. */
export const reportError = async (error: unknown, session: Session): Promise<ExitCode> => {
  const { code, ...text } = await describe(error, session);
  const problem = 'problem' in text ? text.problem : { detail: text.headline, suggestion: text.suggestion ?? null };
  await session.err.line(session.json ? visibleJson(problem) : formatFailure({ ...text, code }, session.err));
  return text.exit;
};

type Described = {
  headline: string;
  suggestion: string | null;
  exit: ExitCode;
  code?: number;
  context?: string[];
  problem?: object;
};

const describe = async (error: unknown, session: Session): Promise<Described> => {
  if (error instanceof UsageError) return { headline: error.message, suggestion: error.suggestion, exit: EXIT.usage };
  if (!(error instanceof Error)) return { headline: String(error), suggestion: null, exit: EXIT.failed };
  // An error with a problem comes from the client, so the client is loaded already.
  if (!('problem' in error)) return describeUnexpected(error);
  const { CapstanError, UnreachableError } = await import('@capstan/client');
  if (error instanceof UnreachableError)
    return { headline: error.detail, suggestion: error.suggestion, exit: EXIT.failed };
  if (!(error instanceof CapstanError)) return describeUnexpected(error);
  const { invocation_id } = error.problem;
  const { headline, suggestion } = describeMistakes(error);
  return {
    headline: isDenial(error) ? `denied: ${headline}` : headline,
    code: error.code,
    suggestion: error.status === 401 ? keySuggestion(session) : suggestion,
    context: typeof invocation_id === 'string' ? [invocation_id] : [],
    problem: error.problem,
    exit: exitCodeOfProblem(error.status),
  };
};

const isDenial = ({ status, code }: { status: number; code: number }): boolean =>
  status === 403 && code >= 1000 && code < 2000;

/** Also an error of another copy of the client, which a file of `capstan serve` has loaded. */
const describeUnexpected = (error: Error): Described => {
  const wrong = 'code' in error && typeof error.code === 'string' ? FILE_ERRORS[error.code] : undefined;
  if (wrong !== undefined && 'path' in error)
    return { headline: `cannot use ${error.path}: ${wrong.why}`, suggestion: wrong.todo, exit: EXIT.failed };
  const headline = 'detail' in error && typeof error.detail === 'string' ? error.detail : error.message;
  const suggestion = 'suggestion' in error && typeof error.suggestion === 'string' ? error.suggestion : null;
  return { headline, suggestion, exit: EXIT.failed };
};

/** What the system says about a file or folder that a command wanted to write. */
const FILE_ERRORS: Partial<Record<string, { why: string; todo: string }>> = {
  EACCES: { why: 'permission denied', todo: 'Make its folder writable, or use another one.' },
  EPERM: { why: 'permission denied', todo: 'Make its folder writable, or use another one.' },
  EROFS: { why: 'the file system is read-only', todo: 'Use a folder on another one.' },
  ENOSPC: { why: 'the disk is full', todo: 'Make room, or use a folder on another disk.' },
  ENOTDIR: { why: 'a part of this path is a file', todo: 'Name a folder.' },
  EEXIST: { why: 'it exists already', todo: 'Remove it, or choose another name.' },
  ENOENT: { why: 'no such folder', todo: 'Create it, or choose another one.' },
};

const keySuggestion = (session: Session): string => {
  const { key } = session.connection();
  return key === null
    ? 'No key was found. Set CAPSTAN_API_KEY, pass --key, or run this in the folder where `capstan up` wrote .capstan/admin.key.'
    : `The key came from ${key.origin}. Pass another with --key or CAPSTAN_API_KEY.`;
};

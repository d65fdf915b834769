import { type Descriptor, Failure, isObject, issueText } from '@capstan/contracts';
import { AtipDocument } from './atip-document.js';
import { atipTools } from './atip-tools.js';
import { lintAtip } from './lint-atip.js';

export type AtipTool = { document: AtipDocument; descriptors: Descriptor[]; warnings: string[] };

const MAX_COMMANDS = 2000;
const MAX_DEPTH = 32;

/** Throws a Failure that lists every mistake with its place. */
export function parseAtip(sent: unknown): AtipTool {
  if (depthOf(sent) > MAX_DEPTH) throw wrong([{ field: '', message: `nested deeper than ${MAX_DEPTH}` }]);
  const parsed = AtipDocument.safeParse(sent);
  if (!parsed.success)
    throw wrong(parsed.error.issues.map((issue) => ({ field: issue.path.join('.'), message: issueText(issue) })));
  const findings = lintAtip(parsed.data);
  const errors = findings.filter(({ level }) => level === 'error');
  if (errors.length > 0) throw wrong(errors.map(({ field, message }) => ({ field, message })));
  const descriptors = atipTools(parsed.data);
  if (descriptors.length > MAX_COMMANDS)
    throw wrong([{ field: 'commands', message: `${descriptors.length} commands; ${MAX_COMMANDS} at most` }]);
  const warnings = [
    ...unknownMembers(sent, parsed.data),
    ...findings.map(({ field, message }) => `${field} ${message}`),
  ];
  return { document: parsed.data, descriptors, warnings };
}

/** Unknown members, which may be typos. Those that start with `x-` are intended. */
function unknownMembers(sent: unknown, read: unknown, path = ''): string[] {
  if (!isObject(sent) || !isObject(read)) {
    if (!Array.isArray(sent) || !Array.isArray(read)) return [];
    return sent.flatMap((each, index) => unknownMembers(each, read[index], `${path}${index}.`));
  }
  return Object.keys(sent).flatMap((name) => {
    if (name.startsWith('x-')) return [];
    return Object.hasOwn(read, name)
      ? unknownMembers(sent[name], read[name], `${path}${name}.`)
      : [`${path}${name} is not a member that ATIP knows`];
  });
}

/** Not recursive, because a document may be nested deeper than the stack allows. */
function depthOf(value: unknown): number {
  let depth = 0;
  let level: unknown[] = [value];
  while (level.length > 0 && depth <= MAX_DEPTH) {
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
    depth += 1;
  }
  return depth;
}

const wrong = (errors: { field: string; message: string }[]): Failure =>
  new Failure('INVALID_REQUEST', {
    detail: `${errors[0]?.field || 'the document'}: ${errors[0]?.message}`,
    suggestion: 'Correct the places named in errors; the document must be ATIP 0.6 or earlier.',
    context: { errors },
  });

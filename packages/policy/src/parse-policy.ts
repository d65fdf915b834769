import { Failure, PolicyDocument } from '@capstan/contracts';
import { type Document, isMap, isNode, isPair, isScalar, LineCounter, parseDocument } from 'yaml';
import { findMistakes, type Mistake } from './find-mistakes.js';

export type PolicyError = { field: string; message: string; line?: number; column?: number };

/** A policy as YAML or JSON text, or parsed already. */
export function parsePolicy(source: unknown): PolicyDocument {
  return typeof source === 'string' ? parseText(source) : checked(source, () => ({}));
}

type Place = { line?: number; column?: number };
type Locate = (path: readonly PropertyKey[], key?: string) => Place;

function parseText(text: string): PolicyDocument {
  const lines = new LineCounter();
  const yaml = parseDocument(text, { lineCounter: lines });
  if (yaml.errors.length > 0)
    throw invalid(
      yaml.errors.map(({ message, linePos }) => ({
        field: '',
        message: message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? message,
        ...(linePos ? { line: linePos[0].line, column: linePos[0].col } : {}),
      })),
    );
  return checked(toValue(yaml), (path, key) => locate(yaml, lines, path, key));
}

/** Refuses what would become huge: a few aliases of aliases are a whole memory. */
function toValue(yaml: Document): unknown {
  try {
    return yaml.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw invalid([{ field: '', message: error instanceof Error ? error.message : 'not YAML' }]);
  }
}

function checked(value: unknown, place: Locate): PolicyDocument {
  const parsed = PolicyDocument.safeParse(value);
  const mistakes: Mistake[] = parsed.success ? findMistakes(parsed.data) : parsed.error.issues.flatMap(toMistakes);
  if (parsed.success && mistakes.length === 0) return parsed.data;
  throw invalid(
    mistakes.map(({ path, key, message }) => ({
      field: [...path, ...(key === undefined ? [] : [key])].join('.'),
      message,
      ...place(path, key),
    })),
  );
}

type Issue = { code: string; path: PropertyKey[]; message: string; keys?: string[]; errors?: Issue[][] };

function toMistakes(issue: Issue): Mistake[] {
  if (issue.code === 'unrecognized_keys' && issue.keys)
    return issue.keys.map((key) => ({ path: issue.path, key, message: 'is not a known field' }));
  // One value or a list of them: what is wrong in the list says more than that it is neither.
  const inner = issue.code === 'invalid_union' ? issue.errors?.find(([first]) => (first?.path.length ?? 0) > 0) : null;
  return (inner ?? []).length > 0
    ? (inner ?? []).flatMap((each) => toMistakes({ ...each, path: [...issue.path, ...each.path] }))
    : [{ path: issue.path, message: issue.message }];
}

/** Where a field stands, or its nearest parent when it is missing. */
function locate(yaml: Document, lines: LineCounter, path: readonly PropertyKey[], key?: string): Place {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? yaml.contents : yaml.getIn(path.slice(0, length), true);
    const offset = length === path.length && key !== undefined ? keyOffset(node, key) : undefined;
    const start = offset ?? (isNode(node) ? node.range?.[0] : undefined);
    if (start === undefined) continue;
    const { line, col } = lines.linePos(start);
    return { line, column: col };
  }
  return {};
}

function keyOffset(node: unknown, key: string): number | undefined {
  if (!isMap(node)) return undefined;
  const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && String(item.key.value) === key);
  return isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
}

function invalid(errors: PolicyError[]): Failure {
  const [first] = errors;
  const where = first?.line === undefined ? '' : `line ${first.line}, column ${first.column}: `;
  return new Failure('POLICY_INVALID', {
    detail: first ? `${where}${first.field || 'the document'}: ${first.message}` : 'not a policy document',
    context: { errors },
  });
}

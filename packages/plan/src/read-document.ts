import { type Document, isMap, isNode, isPair, isScalar, LineCounter, parseDocument } from 'yaml';
import { type Mistake, type PlanError, planFailure } from './plan-error.js';

/** A document as it was sent, and where its parts stand when it was text. */
export type ReadDocument = { value: unknown; toErrors(mistakes: readonly Mistake[]): PlanError[] };

type Place = { line?: number; column?: number };

/** YAML or JSON as text, or what was parsed already. */
export function readDocument(source: unknown): ReadDocument {
  if (typeof source !== 'string') return { value: source, toErrors: (mistakes) => mistakes.map((one) => toError(one)) };
  const lines = new LineCounter();
  const yaml = parseDocument(source, { lineCounter: lines });
  if (yaml.errors.length > 0)
    throw planFailure(
      yaml.errors.map(({ message, linePos }) => ({
        field: '',
        message: message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? message,
        ...(linePos ? { line: linePos[0].line, column: linePos[0].col } : {}),
      })),
    );
  return {
    value: toValue(yaml),
    toErrors: (mistakes) => mistakes.map((one) => toError(one, locate(yaml, lines, one))),
  };
}

/** Refuses what would become huge: a few aliases of aliases are a whole memory. */
function toValue(yaml: Document): unknown {
  try {
    return yaml.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw planFailure([{ field: '', message: error instanceof Error ? error.message : 'not YAML' }]);
  }
}

const toError = ({ path, key, message, suggestion }: Mistake, place: Place = {}): PlanError => ({
  field: [...path, ...(key === undefined ? [] : [key])].join('.'),
  message,
  ...place,
  ...(suggestion === undefined ? {} : { suggestion }),
});

/** Where a field stands, or its nearest parent when it is missing. */
function locate(yaml: Document, lines: LineCounter, { path, key }: Mistake): Place {
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

import { isMap, isNode, isPair, isScalar, Lexer, LineCounter, Parser, parseDocument } from 'yaml';

export type YamlPlace = { line?: number; column?: number };
export type YamlError = YamlPlace & { message: string };

/** A text as a value, with what is wrong with it, and where its parts stand. */
export type YamlText = {
  value: unknown;
  errors: YamlError[];
  /** Where a field stands, or its nearest parent when it is missing. */
  locate(path: readonly PropertyKey[], key?: string): YamlPlace;
};

/** The library takes seconds for a text of some megabytes, and a minute for one of a million brackets. */
const MAX_CHARACTERS = 1_048_576;
const MAX_DEPTH = 100;

/** YAML, or JSON, which is YAML too. */
export function readYaml(text: string): YamlText {
  const problem = refusal(text);
  if (problem !== null) return { value: undefined, errors: [{ message: problem }], locate: () => ({}) };
  const lines = new LineCounter();
  const yaml = parseDocument(text, { lineCounter: lines });
  const errors = yaml.errors.map(({ code, message, linePos }) => ({
    message:
      code === 'DUPLICATE_KEY'
        ? 'this key is there twice; put both parts under one'
        : (message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? message),
    ...(linePos ? { line: linePos[0].line, column: linePos[0].col } : {}),
  }));
  const locate: YamlText['locate'] = (path, key) => {
    for (let length = path.length; length >= 0; length -= 1) {
      const node = length === 0 ? yaml.contents : yaml.getIn(path.slice(0, length), true);
      const offset = length === path.length && key !== undefined ? keyOffset(node, key) : undefined;
      const start = offset ?? (isNode(node) ? node.range?.[0] : undefined);
      if (start === undefined) continue;
      const { line, col } = lines.linePos(start);
      return { line, column: col };
    }
    return {};
  };
  if (errors.length > 0) return { value: undefined, errors, locate };
  try {
    // A few aliases of aliases are a whole memory.
    return { value: yaml.toJS({ maxAliasCount: 100 }), errors, locate };
  } catch (error) {
    return { value: undefined, errors: [{ message: error instanceof Error ? error.message : 'not YAML' }], locate };
  }
}

function refusal(text: string): string | null {
  if (text.length > MAX_CHARACTERS) return `is longer than ${MAX_CHARACTERS} characters of YAML; send it as JSON`;
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme));
    if (parser.stack.length > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
  }
  return null;
}

function keyOffset(node: unknown, key: string): number | undefined {
  if (!isMap(node)) return undefined;
  const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && String(item.key.value) === key);
  return isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
}

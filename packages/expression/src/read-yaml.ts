import { isMap, isNode, isPair, isScalar, LineCounter } from 'yaml';
import { composeYaml } from './compose-yaml.js';
import { yamlMistakes } from './yaml-mistakes.js';

export type YamlPlace = { line?: number; column?: number };
export type YamlError = YamlPlace & { message: string };

/** A parsed text, with its errors and the positions of its parts. */
export type YamlText = {
  value: unknown;
  errors: YamlError[];
  /** Returns the position of a field, or of its nearest parent if it is missing. */
  locate(path: readonly PropertyKey[], key?: string): YamlPlace;
};

/** The library takes one or two seconds per megabyte, and more for dense texts. */
const MAX_CHARACTERS = 1_048_576;

/** More than anybody corrects before trying again. */
const MAX_MISTAKES = 100;

/** Reads YAML, which includes JSON. Callers that do not block others may allow longer texts. */
export function readYaml(text: string, max_characters: number = MAX_CHARACTERS): YamlText {
  if (text.length > max_characters)
    return refused(`is longer than ${max_characters} characters of YAML; send it as JSON`);
  const lines = new LineCounter();
  const composed = composeYaml(text, lines);
  const placeOf = (offset: number): YamlPlace => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  if (!composed.ok) return refused(composed.why, placeOf(composed.offset));
  const { document: yaml, more } = composed;
  const errors = yamlMistakes(yaml, more)
    .slice(0, MAX_MISTAKES)
    .map(({ offset, message }) => ({ message, ...placeOf(offset) }));
  const locate: YamlText['locate'] = (path, key) => {
    for (let length = path.length; length >= 0; length -= 1) {
      const node = length === 0 ? yaml.contents : yaml.getIn(path.slice(0, length), true);
      const offset = length === path.length && key !== undefined ? keyOffset(node, key) : undefined;
      const start = offset ?? (isNode(node) ? node.range?.[0] : undefined);
      if (start === undefined) continue;
      return placeOf(start);
    }
    return {};
  };
  if (errors.length > 0) return { value: undefined, errors, locate };
  try {
    // A few nested aliases can expand to more than fits in memory.
    return { value: yaml.toJS({ maxAliasCount: 100 }), errors, locate };
  } catch (error) {
    const message = error instanceof Error ? error.message : 'not YAML';
    return { value: undefined, errors: [{ message, ...locate([]) }], locate };
  }
}

const refused = (message: string, place: YamlPlace = {}): YamlText => ({
  value: undefined,
  errors: [{ message, ...place }],
  locate: () => ({}),
});

function keyOffset(node: unknown, key: string): number | undefined {
  if (!isMap(node)) return undefined;
  const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && String(item.key.value) === key);
  return isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
}

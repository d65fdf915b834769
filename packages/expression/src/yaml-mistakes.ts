import { type Document, isAlias, isMap, isNode, isPair, isScalar, visit, type YAMLMap } from 'yaml';

/** A mistake at an offset in the text. */
export type YamlMistake = { offset: number; message: string };

/** Returns the errors of the library, and those that it would find only in quadratic time, or late and without a position. */
export function yamlMistakes(document: Document.Parsed, more: Document.Parsed | undefined): YamlMistake[] {
  const mistakes = document.errors.map(({ pos, message }) => ({ offset: pos[0], message }));
  if (more) mistakes.push({ offset: more.range[0], message: 'a second document starts here, but only one is allowed' });
  const anchors = new Set<string>();
  visit(document, {
    Node(_, node, parents) {
      const offset = node.range?.[0] ?? 0;
      if (isAlias(node)) {
        if (!anchors.has(node.source))
          mistakes.push({ offset, message: `there is no anchor &${node.source} before this alias` });
        else if (parents.some((parent) => isNode(parent) && anchorOf(parent) === node.source))
          mistakes.push({ offset, message: `the anchor &${node.source} contains itself` });
        return;
      }
      const anchor = anchorOf(node);
      if (anchor !== undefined) anchors.add(anchor);
      // Not with a spread: a text may have more mistakes than a function takes arguments.
      if (isMap(node)) for (const mistake of keysTwice(node)) mistakes.push(mistake);
    },
  });
  return mistakes;
}

const anchorOf = (node: object): string | undefined =>
  'anchor' in node && typeof node.anchor === 'string' ? node.anchor : undefined;

function keysTwice({ items }: YAMLMap): YamlMistake[] {
  const seen = new Set<string>();
  return items.flatMap((item) => {
    if (!isPair(item) || !isScalar(item.key)) return [];
    const name = String(item.key.value);
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return { offset: item.key.range?.[0] ?? 0, message: 'duplicate key; merge both parts under one key' };
  });
}

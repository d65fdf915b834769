import { type Document, isAlias, isMap, isNode, isPair, isScalar, visit, type YAMLMap } from 'yaml';

/** Where in the text, counted from its start. */
export type YamlMistake = { offset: number; message: string };

/** What the library says of a document, and what it would find in quadratic time, or late and without the place. */
export function yamlMistakes(document: Document.Parsed, more: Document.Parsed | undefined): YamlMistake[] {
  const mistakes = document.errors.map(({ pos, message }) => ({ offset: pos[0], message }));
  if (more) mistakes.push({ offset: more.range[0], message: 'a second document starts here, and one is expected' });
  const anchors = new Set<string>();
  visit(document, {
    Node(_, node, parents) {
      const offset = node.range?.[0] ?? 0;
      if (isAlias(node)) {
        if (!anchors.has(node.source)) mistakes.push({ offset, message: `there is no &${node.source} before this` });
        else if (parents.some((parent) => isNode(parent) && anchorOf(parent) === node.source))
          mistakes.push({ offset, message: `&${node.source} is part of itself` });
        return;
      }
      const anchor = anchorOf(node);
      if (anchor !== undefined) anchors.add(anchor);
      if (isMap(node)) mistakes.push(...keysTwice(node));
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
    return { offset: item.key.range?.[0] ?? 0, message: 'this key is there twice; put both parts under one' };
  });
}

import type TurndownService from 'turndown';

/** What is used here of the nodes that turndown hands out; the project has no types of a DOM. */
type Element = {
  nodeName: string;
  parentNode: Element | null;
  children: ArrayLike<Element>;
  querySelector(selector: string): Element | null | undefined;
};

/** Tables as GitHub writes them, which turndown leaves out. Those that lay a page out stay what is in their cells. */
export const addTables = (turndown: TurndownService): void => {
  const isData = createIsData();
  const within = (...names: string[]) => {
    return (node: Element) => names.includes(node.nodeName) && isData(tableOf(node));
  };
  turndown.addRule('cell', {
    filter: within('TD', 'TH'),
    replacement: (content) => ` ${content.trim().replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')} |`,
  });
  turndown.addRule('row', {
    filter: within('TR'),
    replacement: (content, node: Element) => `\n|${content}${isFirst(node) ? ruleBelow(node) : ''}`,
  });
  turndown.addRule('section', { filter: within('THEAD', 'TBODY', 'TFOOT'), replacement: (content) => content });
  turndown.addRule('caption', { filter: 'caption', replacement: (content) => `\n\n${content.trim()}\n\n` });
  turndown.addRule('table', { filter: within('TABLE'), replacement: (content) => `\n\n${content.trim()}\n\n` });
};

const tableOf = (node: Element | null): Element | null =>
  node === null || node.nodeName === 'TABLE' ? node : tableOf(node.parentNode);

/** The first row is the head, whatever it is made of: without one there is no table. */
const isFirst = (row: Element): boolean => tableOf(row)?.querySelector('tr') === row;

const ruleBelow = ({ children }: Element): string => `\n|${' --- |'.repeat(children.length)}`;

/** What does not fit into a cell, which is one line. */
const LARGE = 'table, ul, ol, dl, pre, blockquote, h1, h2, h3, h4, h5, h6, p + p';

/** Asked for every cell, and looked at once for each table. */
const createIsData = (): ((table: Element | null) => boolean) => {
  const known = new WeakMap<Element, boolean>();
  return (table) => {
    if (table === null) return false;
    const answer = known.get(table) ?? !table.querySelector(LARGE);
    known.set(table, answer);
    return answer;
  };
};

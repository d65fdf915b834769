import type TurndownService from 'turndown';

/** The members of turndown's nodes that are used here, because the project has no DOM types. */
type Element = {
  nodeName: string;
  parentNode: Element | null;
  children: ArrayLike<Element>;
  querySelector(selector: string): Element | null | undefined;
};

/** Adds GitHub's tables, which turndown omits. Tables used for layout become the content of their cells. */
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

/** The first row becomes the header, whatever its cells are, because Markdown tables need one. */
const isFirst = (row: Element): boolean => tableOf(row)?.querySelector('tr') === row;

const ruleBelow = ({ children }: Element): string => `\n|${' --- |'.repeat(children.length)}`;

/** Content that does not fit into a cell, which is a single line. */
const LARGE = 'table, ul, ol, dl, pre, blockquote, h1, h2, h3, h4, h5, h6, p + p';

/** Called for every cell, so the result is cached for each table. */
const createIsData = (): ((table: Element | null) => boolean) => {
  const known = new WeakMap<Element, boolean>();
  return (table) => {
    if (table === null) return false;
    const answer = known.get(table) ?? !table.querySelector(LARGE);
    known.set(table, answer);
    return answer;
  };
};

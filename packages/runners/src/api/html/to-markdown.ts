import TurndownService from 'turndown';
import { addLists } from './add-lists.js';
import { addTables } from './add-tables.js';

/** Elements that are not shown as text. */
const HIDDEN: TurndownService.Filter = ['script', 'style', 'noscript', 'iframe', 'canvas', 'title'];

const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
turndown.remove(HIDDEN);
// Turndown's list of tag names contains only those of HTML.
turndown.remove((node) => node.nodeName.toLowerCase() === 'svg' || node.nodeName.toLowerCase() === 'template');
turndown.use([addTables, addLists]);

export const toMarkdown = (html: string): string => turndown.turndown(html).trim();

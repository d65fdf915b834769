import type TurndownService from 'turndown';

/** The members of turndown's nodes that are used here, because the project has no DOM types. */
type Item = { parentNode: List | null; nextSibling: unknown; nodeName: string };
type List = { nodeName: string; children: ArrayLike<Item>; getAttribute(name: string): string | null | undefined };

/** One space after the marker, as most people and formatters write it. Turndown pads markers to four columns. */
export const addLists = (turndown: TurndownService): void => {
  turndown.addRule('item', {
    filter: 'li',
    replacement: (content, node: Item) => {
      const marker = `${markerOf(node)} `;
      const isLoose = content.endsWith('\n');
      const text = content.replaceAll(/^\n+|\n+$/g, '').replaceAll(/\n(?!\n|$)/g, `\n${' '.repeat(marker.length)}`);
      return `${marker}${text}${isLoose ? '\n' : ''}${node.nextSibling ? '\n' : ''}`;
    },
  });
};

/** `-`, or the number that a browser displays. */
function markerOf(item: Item): string {
  const { parentNode: list } = item;
  if (list?.nodeName !== 'OL') return '-';
  const start = Number(list.getAttribute('start') ?? 1);
  const place = Array.from(list.children)
    .filter(({ nodeName }) => nodeName === 'LI')
    .indexOf(item);
  return `${(Number.isSafeInteger(start) && start >= 0 ? start : 1) + place}.`;
}

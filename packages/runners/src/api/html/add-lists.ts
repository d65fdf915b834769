import type TurndownService from 'turndown';

/** What is used here of the nodes that turndown hands out; the project has no types of a DOM. */
type Item = { parentNode: List | null; nextSibling: unknown; nodeName: string };
type List = { nodeName: string; children: ArrayLike<Item>; getAttribute(name: string): string | null | undefined };

/** One blank after the marker, as most people and formatters write it; turndown pads markers to four columns. */
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

/** `-`, or the number that a browser shows. */
function markerOf(item: Item): string {
  const { parentNode: list } = item;
  if (list?.nodeName !== 'OL') return '-';
  const start = Number(list.getAttribute('start') ?? 1);
  const place = Array.from(list.children)
    .filter(({ nodeName }) => nodeName === 'LI')
    .indexOf(item);
  return `${(Number.isSafeInteger(start) && start >= 0 ? start : 1) + place}.`;
}

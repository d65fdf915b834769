import { convert } from 'html-to-text';

const skip = (selector: string) => ({ selector, format: 'skip' });

const LINE = { leadingLineBreaks: 1, trailingLineBreaks: 1 };

export const toText = (html: string): string =>
  convert(html, {
    wordwrap: false,
    selectors: [
      ...['script', 'style', 'noscript', 'iframe', 'svg', 'img', 'title', 'template'].map(skip),
      { selector: 'a', options: { ignoreHref: true } },
      // One line for each row, with separators between cells.
      ...['tr', 'caption'].map((selector) => ({ selector, format: 'block', options: LINE })),
      ...['td', 'th'].map((selector) => ({ selector, format: 'inlineSurround', options: { suffix: '\t' } })),
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
    ],
  })
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trim();

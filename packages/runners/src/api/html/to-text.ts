import { convert } from 'html-to-text';

const skip = (selector: string) => ({ selector, format: 'skip' });

export const toText = (html: string): string =>
  convert(html, {
    wordwrap: false,
    selectors: [
      ...['script', 'style', 'noscript', 'iframe', 'svg', 'img', 'title', 'template'].map(skip),
      { selector: 'a', options: { ignoreHref: true } },
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
    ],
  }).trim();

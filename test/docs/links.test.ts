import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findRepository } from '../fixtures/find-repository.js';

const repository = findRepository();
const pages = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: fileURLToPath(repository),
  encoding: 'utf8',
})
  .trim()
  .split('\n');

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

const anchorsOf = (url: URL): string[] =>
  [...readFileSync(url, 'utf8').matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));

test.each(pages)('every relative link of %s leads somewhere', (page) => {
  const from = new URL(page, repository);
  const text = readFileSync(from, 'utf8').replaceAll(/```[\s\S]*?```/g, '');
  const broken = [...text.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => {
      const target = new URL(link, from);
      if (!existsSync(target)) return true;
      return target.hash !== '' && !anchorsOf(target).includes(decodeURIComponent(target.hash.slice(1)));
    });
  expect(broken).toEqual([]);
});

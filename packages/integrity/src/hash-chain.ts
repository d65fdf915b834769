import { canonicalJson } from './canonical-json.js';
import { hashJson, hashText } from './hash-json.js';

/** A chain starts from its subject, so a link cannot be moved to another chain. */
export const chainStart = (subject: string): string => hashJson({ chain: subject });

/** Each link covers the previous one, so a changed, dropped or reordered entry changes every link after it. */
export const chainNext = (previous: string, entry: unknown): string =>
  hashText(`{"entry":${canonicalJson(entry)},"previous":${canonicalJson(previous)}}`);

export const chainOf = (subject: string, entries: Iterable<unknown>): string[] => {
  const links: string[] = [];
  let link = chainStart(subject);
  for (const entry of entries) {
    link = chainNext(link, entry);
    links.push(link);
  }
  return links;
};

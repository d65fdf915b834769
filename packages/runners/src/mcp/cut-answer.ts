import { isObject, type Json, type JsonObject } from '@capstan/contracts';
import { cutText } from '../cut-text.js';

/** Truncates text at the limit. Any other part is kept whole or left out. All parts count towards the limit. */
export function cutAnswer(answer: Json, max_bytes: number): { payload: JsonObject; isCut: boolean } {
  const { content, structuredContent = null } = isObject(answer) ? answer : {};
  let left = max_bytes;
  let isCut = false;
  const fits = (part: Json): boolean => {
    const size = Buffer.byteLength(JSON.stringify(part));
    const isSmall = size <= left;
    if (isSmall) left -= size;
    else isCut = true;
    return isSmall;
  };
  const shorten = (text: string): string => {
    const { kept, truncated } = cutText(text, left);
    left -= Buffer.byteLength(kept);
    isCut ||= truncated;
    return kept;
  };
  const cutBlock = (block: Json): Json[] => {
    if (!isObject(block)) return [];
    const { text, ...rest } = block;
    if (typeof text === 'string') return isBare(rest) || fits(rest) ? [{ ...rest, text: shorten(text) }] : [];
    const { resource } = block;
    if (!isObject(resource) || typeof resource.text !== 'string') return fits(block) ? [block] : [];
    const { text: inside, ...about } = resource;
    return fits({ ...block, resource: about }) ? [{ ...block, resource: { ...about, text: shorten(inside) } }] : [];
  };
  const blocks = (Array.isArray(content) ? content : []).flatMap(cutBlock);
  const isWhole = structuredContent !== null && fits(structuredContent);
  return { payload: { content: blocks, ...(isWhole && { structuredContent }) }, isCut };
}

/** The usual block has only a text, and then only the text counts. */
const isBare = (rest: JsonObject): boolean => Object.keys(rest).every((name) => name === 'type');

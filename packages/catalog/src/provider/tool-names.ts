import type { Descriptor } from '@capstan/contracts';
import { hashText } from '@capstan/integrity';

/**
 * The strictest limits of all providers, so that a tool has the same name everywhere. OpenAI and Anthropic accept letters, digits, `_` and `-` (at
 * most 64); Gemini requires a letter or `_` first, and once accepted only 63.
 */
export const MAX_NAME = 63;
const HASH_LENGTH = 8;

/** A tool under the name that models see. */
export type NamedTool = { name: string; descriptor: Descriptor };

/**
 * Gives every tool a unique name. In case of conflict, the first tool gets the short name (`read_file`) and later ones the name with their source
 * (`mcp_files_read_file`). If that is taken or too long, it ends in a hash of the tool's id. Duplicate tools are dropped.
 */
export function nameTools(descriptors: readonly Descriptor[]): NamedTool[] {
  const taken = new Map<string, string>();
  const named: NamedTool[] = [];
  for (const descriptor of new Map(descriptors.map((one) => [one.tool_id, one])).values()) {
    const free = [shortName(descriptor), longName(descriptor)].find((name) => !taken.has(name));
    const name = free ?? cut(longName(descriptor), descriptor.tool_id);
    taken.set(name, descriptor.tool_id);
    named.push({ name, descriptor });
  }
  return named;
}

export type FoundName =
  | { kind: 'found'; tool_id: string }
  | { kind: 'ambiguous'; tool_ids: string[] }
  | { kind: 'unknown' };

/** Finds tools by any of their names: the id, the name with the source, or the short name. */
export function findByName(descriptors: Iterable<Descriptor>, name: string): FoundName {
  const byLong: string[] = [];
  const byShort: string[] = [];
  for (const descriptor of descriptors) {
    const { tool_id } = descriptor;
    if (tool_id === name) return { kind: 'found', tool_id };
    if (longName(descriptor) === name) byLong.push(tool_id);
    else if (shortName(descriptor) === name) byShort.push(tool_id);
  }
  const [first, ...others] = byLong.length > 0 ? byLong : byShort;
  if (first === undefined) return { kind: 'unknown' };
  return others.length === 0 ? { kind: 'found', tool_id: first } : { kind: 'ambiguous', tool_ids: [first, ...others] };
}

/** `read_file`; for an ATIP command its full name, `gh_pr_create`. */
const shortName = ({ name, tool_id }: Descriptor): string => toName(name, tool_id);

/** `cap_session_file_system_read_file` */
const longName = ({ tool_id }: Descriptor): string => toName(tool_id, tool_id);

function toName(text: string, tool_id: string): string {
  const clean = text.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  const named = /^[A-Za-z_]/.test(clean) ? clean : `_${clean}`;
  return named.length <= MAX_NAME && /[A-Za-z0-9]/.test(named) ? named : cut(named, tool_id);
}

/** Shortens a name. It stays unique because it ends in a hash. */
function cut(name: string, tool_id: string): string {
  const hash = hashText(tool_id).replace('sha256:', '').slice(0, HASH_LENGTH);
  return `${name.slice(0, MAX_NAME - HASH_LENGTH - 1)}_${hash}`;
}

import type { Descriptor } from '@capstan/contracts';
import { hashText } from '@capstan/integrity';

/**
 * The strictest of all providers' rules, so that a tool has one name whoever is asked: OpenAI and Anthropic take letters,
 * digits, `_` and `-` (64 at most), Gemini wants a letter or `_` first and once took 63.
 */
export const MAX_NAME = 63;
const HASH_LENGTH = 8;

/** A tool under the name that a model knows it by. */
export type NamedTool = { name: string; descriptor: Descriptor };

/**
 * Gives every tool a name of its own. The rule for conflicts: in the order given, the first takes the short name
 * (`read_file`), a later one the name with its source in it (`mcp_files_read_file`), and should that be taken as well, or
 * too long, it ends in a hash of its id. A tool given twice is one tool.
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

/** Finds tools by any name that a model may know them by: its id, its name with the source in it, or its short name. */
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

/** `read_file`; of an ATIP command `gh_pr_create`, which is its name already. */
const shortName = ({ name, tool_id }: Descriptor): string => toName(name, tool_id);

/** `cap_session_file_system_read_file` */
const longName = ({ tool_id }: Descriptor): string => toName(tool_id, tool_id);

function toName(text: string, tool_id: string): string {
  const clean = text.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  const named = /^[A-Za-z_]/.test(clean) ? clean : `_${clean}`;
  return named.length <= MAX_NAME && /[A-Za-z0-9]/.test(named) ? named : cut(named, tool_id);
}

/** Still one name for one tool: the end says by a hash which. */
function cut(name: string, tool_id: string): string {
  const hash = hashText(tool_id).replace('sha256:', '').slice(0, HASH_LENGTH);
  return `${name.slice(0, MAX_NAME - HASH_LENGTH - 1)}_${hash}`;
}

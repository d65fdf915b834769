import type { Descriptor, Effects, Risk, SideEffect, Trust } from '@capstan/contracts';
import type { McpAnnotations } from './mcp-tool.js';

type Conclusion = Pick<Descriptor, 'effects' | 'side_effects' | 'risk' | 'inferred'>;
type Hint = keyof McpAnnotations;

/** The protocol's defaults for missing hints. All are the dangerous value. */
const MISSING: Record<Hint, boolean> = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

/** At these trust levels, hints that a tool is harmless are ignored: the protocol tells clients not to rely on them. */
const DOUBTED: ReadonlySet<Trust> = new Set(['user', 'inferred']);

export function concludeMcpEffects(annotations: McpAnnotations, trust: Trust, local: boolean): Conclusion {
  const inferred: Descriptor['inferred'] = [];
  const doubted = DOUBTED.has(trust);
  const read = (hint: Hint): boolean => {
    const said = annotations[hint];
    const dangerous = MISSING[hint];
    if (said === undefined) inferred.push({ field: hint, why: `not declared, so taken as ${dangerous}` });
    else if (doubted && said !== dangerous)
      inferred.push({
        field: hint,
        why: `declared ${said}, which the word of a server trusted as ${trust} is not enough for`,
      });
    return said === undefined || doubted ? dangerous : said;
  };

  const readOnly = read('readOnlyHint');
  // The next two hints apply only to tools that change something.
  const destructive = !readOnly && read('destructiveHint');
  const idempotent = readOnly || read('idempotentHint');
  const isOpen = read('openWorldHint');
  const effects: Effects = {
    idempotent,
    destructive,
    reversible: readOnly,
    // A call to a remote server uses the network, whatever the tool does there.
    network: isOpen || !local,
    filesystem: { read: true, write: !readOnly, delete: destructive },
    subprocess: local && !readOnly,
    billable: !readOnly,
    interactive: false,
  };
  return { effects, side_effects: sideEffects(effects), risk: risk(effects, readOnly, isOpen), inferred };
}

function sideEffects({ network, filesystem, subprocess }: Effects): SideEffect[] {
  const tags: [boolean, SideEffect][] = [
    [filesystem.read, 'fs.read'],
    [filesystem.write, 'fs.write'],
    [filesystem.delete, 'fs.delete'],
    [network, 'network.http'],
    [subprocess, 'system.exec'],
  ];
  return tags.flatMap(([has, tag]) => (has ? [tag] : []));
}

function risk({ destructive }: Effects, readOnly: boolean, isOpen: boolean): Risk {
  if (readOnly) return isOpen ? 'MED' : 'LOW';
  return destructive ? 'HIGH' : 'MED';
}

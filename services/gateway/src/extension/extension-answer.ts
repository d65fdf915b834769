import { Manifest, parseCommands, type SlashCommand } from '@capstan/catalog';
import type { InstalledExtension } from '@capstan/contracts';
import type { ExtensionRow } from '@capstan/store/extension';

/** The manifest was validated on installation. If a row is invalid all the same, its valid parts are shown. */
export function toAnswer(row: ExtensionRow, tools: string[]): InstalledExtension {
  const manifest = Manifest.safeParse(row.manifest).data;
  return {
    extension_id: row.extension_id,
    name: manifest?.name ?? row.extension_id,
    version: manifest?.version ?? '',
    description: manifest?.description ?? '',
    enabled: row.enabled,
    commands: commandsOf(row).map(({ name }) => name),
    permissions_required: manifest?.permissions_required ?? [],
    tools,
    tools_hash: row.tools_hash,
    installed_by: row.installed_by,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

export const commandsOf = (row: ExtensionRow): SlashCommand[] => parseCommands(row.commands);

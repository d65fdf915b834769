import { type Extension, type ExtensionSource, parseExtension, readExtensionFolder } from '@capstan/catalog';
import { type Descriptor, Failure, type NewExtension, type Principal, toJsonObject } from '@capstan/contracts';
import { installExtension, readExtensions } from '@capstan/store/extension';
import { isLong } from '../aside/document-readers.js';
import type { GatewayContext } from '../gateway-context.js';
import { announceTools } from '../tool/installation-admin.js';
import { commandsOf, toAnswer } from './extension-answer.js';

/** Without readers, commands are parsed in this thread: for extensions that ship with Capstan. */
type Installer = Pick<GatewayContext, 'store' | 'relay' | 'catalog'> & Partial<Pick<GatewayContext, 'readers'>>;
type Actor = Pick<Principal, 'tenant' | 'actor'>;

/** Reads, checks and installs an extension; its tools can be called when this returns. */
export async function install(gateway: Installer, by: Actor, sent: NewExtension) {
  const source = sent.path === undefined ? fromBody(sent) : await readExtensionFolder(sent.path);
  const extension = parseExtension(await readLongCommands(gateway, by.tenant, source), nativeTools(gateway));
  await refuseTakenCommands(gateway, extension);
  const { manifest, commands, usage, tools_hash, files, descriptors } = extension;
  const { extension: row, changes } = await installExtension(gateway.store, by, {
    extension_id: manifest.id,
    manifest: toJsonObject(manifest),
    commands: toJsonObject(commands),
    usage,
    tools_hash,
    files,
    descriptors,
  });
  await announceTools(gateway);
  return {
    ...toAnswer(
      row,
      descriptors.map(({ tool_id }) => tool_id),
    ),
    changes,
  };
}

/** Parses long command files in a thread, so that other requests are not blocked. */
async function readLongCommands(
  { readers }: Installer,
  tenant: string,
  source: ExtensionSource,
): Promise<ExtensionSource> {
  const { commands: text } = source;
  if (typeof text !== 'string' || !isLong(text) || !readers) return source;
  return { ...source, commands: await readers.read<unknown>(tenant, { kind: 'commands', text }) };
}

const nativeTools =
  ({ catalog }: Installer) =>
  (tool_id: string): Descriptor | undefined => {
    const descriptor = catalog.get(tool_id)?.descriptor;
    return descriptor?.binding.kind === 'native' ? descriptor : undefined;
  };

function fromBody({ manifest, commands, usage, tools = {} }: NewExtension): ExtensionSource {
  const files = Object.entries(tools).map(([name, content]): [string, Uint8Array] => [
    name,
    Buffer.from(content, 'base64'),
  ]);
  return { manifest, commands, usage, tools: new Map(files) };
}

/** A slash command belongs to one extension, so that its meaning never depends on the order of installation. */
async function refuseTakenCommands({ store }: Installer, { manifest, commands }: Extension): Promise<void> {
  const others = (await readExtensions(store.db)).filter(({ extension_id }) => extension_id !== manifest.id);
  for (const { name } of commands.slash_commands) {
    const owner = others.find((row) => commandsOf(row).some((command) => command.name === name));
    if (owner)
      throw new Failure('ILLEGAL_STATE', {
        detail: `${name} is already a command of the extension ${owner.extension_id}.`,
        suggestion: 'Rename the command, or remove the other extension.',
      });
  }
}

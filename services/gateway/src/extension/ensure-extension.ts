import type { Backbone } from '@capstan/backbone';
import { Manifest, readExtensionFolder } from '@capstan/catalog';
import { DEFAULT_TENANT } from '@capstan/contracts';
import { readExtension, wasRemoved } from '@capstan/store/extension';
import { install } from './install.js';

const SYSTEM = { tenant: DEFAULT_TENANT, actor: 'system' };

/**
 * Installs an extension that ships with Capstan: on the first start, and again when another version is shipped. Once somebody has
 * removed it or installed their own, it is left alone.
 */
export async function ensureExtension(backbone: Backbone, path: string): Promise<void> {
  const { manifest } = await readExtensionFolder(path);
  const shipped = Manifest.parse(typeof manifest === 'string' ? JSON.parse(manifest) : manifest);
  const row = await readExtension(backbone.store.db, shipped.id);
  if (row && (row.installed_by !== SYSTEM.actor || row.manifest.version === shipped.version)) return;
  if (!row && (await wasRemoved(backbone.store.db, shipped.id))) return;
  await install(backbone, SYSTEM, { path });
}

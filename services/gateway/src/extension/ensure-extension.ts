import type { Backbone } from '@capstan/backbone';
import { Manifest, readExtensionFolder } from '@capstan/catalog';
import { DEFAULT_TENANT } from '@capstan/contracts';
import { readExtension, wasRemoved } from '@capstan/store';
import { install } from './install.js';

const SYSTEM = { tenant: DEFAULT_TENANT, actor: 'system' };

/**
 * An extension that an installation comes with: installed at its first start, renewed when a newer version is shipped, and
 * left alone once somebody has removed it or installed their own.
 */
export async function ensureExtension(backbone: Backbone, path: string): Promise<void> {
  const { manifest } = await readExtensionFolder(path);
  const shipped = Manifest.parse(typeof manifest === 'string' ? JSON.parse(manifest) : manifest);
  const row = await readExtension(backbone.store.db, shipped.id);
  if (row && (row.installed_by !== SYSTEM.actor || row.manifest.version === shipped.version)) return;
  if (!row && (await wasRemoved(backbone.store.db, shipped.id))) return;
  await install(backbone, SYSTEM, { path });
}

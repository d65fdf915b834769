import { readFile } from 'node:fs/promises';
import { type CapabilityRegistry, createCapabilityRegistry, parseCapabilities } from '@capstan/catalog';

/** Loads the built-in capabilities and those of CAPSTAN_CAPABILITIES_FILE. An invalid file stops the start. */
export async function loadCapabilities(file: string | undefined): Promise<CapabilityRegistry> {
  if (file === undefined) return createCapabilityRegistry();
  return createCapabilityRegistry(parseCapabilities(await readFile(file, 'utf8')));
}

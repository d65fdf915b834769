import { readFile } from 'node:fs/promises';
import { type CapabilityRegistry, createCapabilityRegistry, parseCapabilities } from '@capstan/catalog';

/** The built-in capabilities, and those of the file that CAPSTAN_CAPABILITIES_FILE names. A file that is wrong stops the start. */
export async function loadCapabilities(file: string | undefined): Promise<CapabilityRegistry> {
  if (file === undefined) return createCapabilityRegistry();
  return createCapabilityRegistry(parseCapabilities(await readFile(file, 'utf8')));
}

import { rm } from 'node:fs/promises';
import { openContainment } from './containment.js';

/** Whether tools can run behind walls on this machine; found out by running something there. */
export async function canContain(work_dir: string): Promise<boolean> {
  const { has_namespaces, directory } = await openContainment({ work_dir });
  await rm(directory, { recursive: true, force: true });
  return has_namespaces;
}

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Beside the bundled command, and in the repository. */
const PLACES = ['./examples/extensions/', '../../../packages/examples/extensions/'];

/** The folders of the extensions that a first start installs; none where the examples are not there. */
export function exampleExtensions(): string[] {
  const folders = PLACES.map((place) => fileURLToPath(new URL(`${place}text-tools`, import.meta.url)));
  return folders.filter((folder) => existsSync(folder)).slice(0, 1);
}

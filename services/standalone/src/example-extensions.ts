import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The folders of the extensions that a first start installs; none where the examples are not there. */
export function exampleExtensions(): string[] {
  try {
    const examples = dirname(createRequire(import.meta.url).resolve('@capstan/examples/package.json'));
    return [join(examples, 'extensions', 'text-tools')].filter((folder) => existsSync(folder));
  } catch {
    return [];
  }
}

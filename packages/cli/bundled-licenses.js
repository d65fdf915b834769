import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The licences of the packages whose code is in the bundle, as they ask of whoever hands it on. */
export const bundledLicenses = () => ({
  name: 'bundled-licenses',
  async generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
    const folders = [...new Set(modules.flatMap((id) => PACKAGE.exec(id)?.[1] ?? []))];
    const texts = await Promise.all(folders.map(licenseOf));
    this.emitFile({
      type: 'asset',
      fileName: 'THIRD-PARTY-LICENSES.txt',
      source: [...new Set(texts)].sort().join(`\n${'-'.repeat(80)}\n\n`),
    });
  },
});

/** The folder of the package that a module is in. */
const PACKAGE = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;

async function licenseOf(folder) {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const file = (await readdir(folder)).find((each) => /^(licen[cs]e|copying)/i.test(each));
  const text = file === undefined ? '' : `\n${(await readFile(join(folder, file), 'utf8')).trim()}\n`;
  return `${name} ${version} (${license})\n${text}`;
}

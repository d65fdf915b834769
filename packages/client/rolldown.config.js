import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import manifest from './package.json' with { type: 'json' };

/**
 * What is installed is one package: its own modules and those parts of `@capstan/contracts`, which is not published, that
 * they use. An entry of `exports` is built from the module of the same name.
 */
const entries = Object.values(manifest.exports)
  .filter((target) => typeof target === 'object')
  .map(({ default: file }) => file.slice('./dist/'.length, -'.js'.length));

const OURS = '@capstan/contracts';
const external = new RegExp(
  `^(${Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }).join('|')})(/|$)`,
);

// biome-ignore lint/style/noDefaultExport: this is how rolldown reads it
export default {
  input: Object.fromEntries(entries.map((entry) => [entry, `build/${entry}.js`])),
  platform: 'node',
  external,
  plugins: [{ name: 'declarations', writeBundle: copyDeclarations }],
  output: { dir: 'dist', cleanDir: true, chunkFileNames: 'shared/[name]-[hash].js', minify: false },
};

/** tsc's declarations as they are, with those of the contracts beside them. */
async function copyDeclarations() {
  await copyTree('build', 'dist');
  await copyTree('../contracts/dist', 'dist/contracts');
}

async function copyTree(from, to) {
  const names = await readdir(from, { recursive: true });
  const wanted = names.filter((name) => name.endsWith('.d.ts') && !/(^|\/)testing\/|\.test\.d\.ts$/.test(name));
  for (const name of wanted) {
    const target = join(to, name);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, selfContained(await readFile(join(from, name), 'utf8'), dirname(target)));
  }
}

const selfContained = (text, folder) => {
  const contracts = relative(folder, 'dist/contracts') || '.';
  const path = contracts.startsWith('.') ? contracts : `./${contracts}`;
  return text
    .replaceAll(new RegExp(`(['"])${OURS}/([\\w-]+)\\1`, 'g'), `'${path}/$2.js'`)
    .replaceAll(new RegExp(`(['"])${OURS}\\1`, 'g'), `'${path}/index.js'`)
    .replaceAll(/^\/\/# sourceMappingURL=.*$/gm, '');
};

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { findRepository } from '../fixtures/find-repository.js';

const Manifest = z.object({
  name: z.string(),
  description: z.string(),
  private: z.boolean().default(false),
  dependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()).default({}),
});

/** A published package is bundled, so that what it is built from is in its development dependencies. */
const readManifest = (path: string) => {
  const { devDependencies, ...manifest } = Manifest.parse(JSON.parse(readFileSync(path, 'utf8')));
  return manifest.private ? manifest : { ...manifest, dependencies: { ...devDependencies, ...manifest.dependencies } };
};

/** docs/internals/packages.md, from the manifests of the workspaces. */
export const packageReference = (): string => {
  const root = fileURLToPath(findRepository());
  const packages = ['packages', 'services']
    .flatMap((parent) => readdirSync(`${root}/${parent}`).map((name) => `${parent}/${name}`))
    .sort()
    .map((folder) => ({
      folder,
      ...readManifest(`${root}/${folder}/package.json`),
    }));
  const folderOf = new Map(packages.map(({ name, folder }) => [name, folder]));
  const short = (name: string) => folderOf.get(name)?.split('/')[1] ?? name;
  const rows = packages.map(({ name, folder, description, dependencies }) => {
    const ours = Object.keys(dependencies).filter((each) => folderOf.has(each));
    const others = Object.keys(dependencies).filter((each) => !folderOf.has(each));
    const importers = packages.filter((each) => name in each.dependencies).map((each) => short(each.name));
    return `| [${short(name)}](../../${folder}) | ${description} | ${ours.map(short).join(', ')} | ${importers.join(', ')} | ${others.join(', ')} |`;
  });
  return `# Packages

Which package depends on which. Imports point one way, and lint holds them to it: contracts ◀ the other packages ◀ services ◀ cli.

| package | what it is | uses | used by | libraries |
|---|---|---|---|---|
${rows.join('\n')}

This page is generated from the \`package.json\` files.
`;
};

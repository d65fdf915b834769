import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { pack } from '../fixtures/pack.js';
import { tempDir } from '../fixtures/temp-dir.js';

const Names = z.record(z.string(), z.unknown()).default({});
const Manifest = z.object({
  name: z.string(),
  license: z.literal('MIT'),
  private: z.literal(false).optional(),
  type: z.literal('module'),
  engines: z.object({ node: z.string() }),
  publishConfig: z.object({ access: z.literal('public'), provenance: z.literal(true) }),
  dependencies: Names,
  optionalDependencies: Names,
  peerDependencies: Names,
  peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.literal(true) })).default({}),
});

const root: Record<string, string> = {};
beforeAll(async () => {
  const folder = await tempDir();
  for (const { name, tarball } of await pack(['@capstan/client', 'capstan'], folder)) {
    const target = join(folder, name.replace('/', '-'));
    await mkdir(target);
    execFileSync('tar', ['xzf', tarball, '-C', target, '--strip-components=1']);
    root[name] = target;
  }
});

const filesOf = (name: string, extension: string) => {
  const folder = root[name] ?? expect.fail(`${name} was not packed`);
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(extension))
    .map((file) => ({ file: join(folder, file), text: readFileSync(join(folder, file), 'utf8') }));
};
const manifestOf = (name: string) =>
  Manifest.parse(JSON.parse(readFileSync(join(root[name] ?? '', 'package.json'), 'utf8')));

/** The imports of a module by its statements, without those in comments of bundled packages. */
const imports = (text: string) =>
  [
    ...text.matchAll(/^(?:import|export)\b(?:[^'"\n;]|\n)*?from\s*['"]([^'"\n]+)['"]/gm),
    ...text.matchAll(/\b(?:await|return) import\(['"]([^'"\n]+)['"]\)/g),
  ].flatMap(([, specifier]) => specifier ?? []);
const typeImports = (text: string) =>
  [...text.matchAll(/\b(?:from|import\()\s*['"]([^'"\n]+)['"]/g)].flatMap(([, name]) => name ?? []);
const packageOf = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

describe.each(['@capstan/client', 'capstan'])('the package %s', (name) => {
  test('has a complete manifest, its licence and its README', () => {
    expect(manifestOf(name).name).toBe(name);
    for (const file of ['LICENSE', 'README.md']) expect(existsSync(join(root[name] ?? '', file))).toBe(true);
  });

  test('depends only on published packages', () => {
    const { dependencies, optionalDependencies, peerDependencies } = manifestOf(name);
    const named = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
    expect(named.filter((each) => each.startsWith('@capstan/'))).toEqual([]);
  });

  test('has only optional peer dependencies, so that unused frameworks need not be installed', () => {
    const { peerDependencies, peerDependenciesMeta } = manifestOf(name);
    expect(Object.keys(peerDependenciesMeta).sort()).toEqual(Object.keys(peerDependencies).sort());
  });

  test('imports only declared dependencies and files that it contains', () => {
    const { dependencies, optionalDependencies, peerDependencies } = manifestOf(name);
    const declared = new Set([
      ...Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }),
      ...builtinModules,
    ]);
    // `capstan init` contains the text of programs that it writes into a user's folder.
    const files = [...filesOf(name, '.js'), ...filesOf(name, '.d.ts')].filter(
      ({ file }) => !/\/init-[\w-]+\.js$/.test(file),
    );
    expect(files.length).toBeGreaterThan(10);
    const missing = files.flatMap(({ file, text }) =>
      (file.endsWith('.d.ts') ? typeImports(text) : imports(text))
        .filter((specifier) => !specifier.startsWith('node:'))
        .filter((specifier) =>
          specifier.startsWith('.') ? !isThere(file, specifier) : !declared.has(packageOf(specifier)),
        )
        .map((specifier) => `${file.slice((root[name] ?? '').length)}: ${specifier}`),
    );
    expect(missing).toEqual([]);
  });
});

const isThere = (file: string, specifier: string) => {
  const target = resolve(dirname(file), specifier);
  return existsSync(file.endsWith('.d.ts') ? target.replace(/\.js$/, '.d.ts') : target);
};

test('the capstan package contains the default extension, its threads, and the licences of bundled packages', () => {
  const bundle = join(root.capstan ?? '', 'bundle');
  const parts = [
    'examples/extensions/text-tools/manifest.json',
    'reader-thread.js',
    'convert-thread.js',
    'schema-thread.js',
    'sqlite-thread.js',
  ];
  expect(parts.filter((part) => !existsSync(join(bundle, part)))).toEqual([]);
  expect(readFileSync(join(bundle, 'THIRD-PARTY-LICENSES.txt'), 'utf8')).toMatch(/^fastify \d.*\(MIT\)$/m);
});

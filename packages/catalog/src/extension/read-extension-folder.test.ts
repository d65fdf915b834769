import { rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseExtension } from './parse-extension.js';
import { readExtensionFolder } from './read-extension-folder.js';
import { folderWith } from './testing/folder-with.js';
import { manifest } from './testing/parse-parts.js';

describe('a folder', () => {
  const files = {
    'manifest.json': JSON.stringify(manifest()),
    'commands/commands.yaml': 'slash_commands: [{ name: /text, actions: [{ id: go, runner: exec.go }] }]',
    'tools/go': '#!/bin/sh\necho gone\n',
  };

  test('is read with its executables, which share one hash', async () => {
    const folder = await folderWith(files);
    const one = parseExtension(await readExtensionFolder(folder), () => undefined);
    expect(one.files).toMatchObject([{ name: 'go', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    expect(one.tools_hash).toMatch(/^sha256:/);
    expect(one.descriptors[0]?.binding).toMatchObject({ tools_hash: one.tools_hash });
    await writeFile(join(folder, 'tools/go'), 'other');
    const other = parseExtension(await readExtensionFolder(folder), () => undefined);
    expect(other.tools_hash).not.toBe(one.tools_hash);
  });

  test('is read with files in subfolders of its tools', async () => {
    const folder = await folderWith({ ...files, 'tools/data/words/long.txt': 'extraordinary\n' });
    const { files: read } = parseExtension(await readExtensionFolder(folder), () => undefined);
    expect(read.map(({ name }) => name)).toEqual(['data/words/long.txt', 'go']);
    await symlink('/etc', join(folder, 'tools/data/elsewhere'));
    await expect(readExtensionFolder(folder)).rejects.toThrow('tools/data/elsewhere is a symbolic link');
  });

  test('with file names that lead outside, or into one another, is refused', async () => {
    const source = await readExtensionFolder(await folderWith(files));
    const named = (...names: string[]) =>
      parseExtension({ ...source, tools: new Map(names.map((name) => [name, Buffer.from('x')])) }, () => undefined);
    for (const name of ['../go', '/go', 'a/../../go', 'a//go', 'a/', '.hidden', 'a/.hidden', '']) {
      expect(() => named(name), name).toThrow('is not the name of a file of an extension');
    }
    expect(() => named('go', 'go/on')).toThrow('lies in a folder that is a file as well');
  });

  test('that is missing, or lacks a required file, is refused', async () => {
    await expect(readExtensionFolder('/nowhere/at/all')).rejects.toThrow('is not there');
    await expect(readExtensionFolder('relative')).rejects.toThrow('absolute');
    await expect(readExtensionFolder('/etc/hostname')).rejects.toThrow('is not a folder');
    await expect(readExtensionFolder(await folderWith({ 'commands.yaml': '' }))).rejects.toThrow(
      'manifest.json is missing',
    );
  });

  test('is read without following links out of it', async () => {
    const linked = await folderWith({ 'commands.yaml': '' });
    await symlink('/etc/hostname', join(linked, 'manifest.json'));
    await expect(readExtensionFolder(linked)).rejects.toThrow('symbolic link');
    const elsewhere = await folderWith({ 'commands.yaml': 'slash_commands: []', passwd: 'x' });
    const through = await folderWith({ 'manifest.json': '{}' });
    await symlink(elsewhere, join(through, 'commands'));
    await expect(readExtensionFolder(through)).rejects.toThrow();
    const tools = await folderWith(files);
    await rm(join(tools, 'tools'), { recursive: true });
    await symlink('/bin', join(tools, 'tools'));
    await expect(readExtensionFolder(tools)).rejects.toThrow();
    const escaping = await folderWith({
      'manifest.json': JSON.stringify(manifest()),
      'commands.yaml': 'commands: [{ name: /x,\n    entrypoint: ../../../../etc/hostname\n }]',
    });
    await expect(readExtensionFolder(escaping)).rejects.toThrow(/outside|missing/);
  });

  test('with a file that is too large is refused', async () => {
    const folder = await folderWith({ ...files, 'docs/USAGE.md': 'x'.repeat(1_048_577) });
    await expect(readExtensionFolder(folder)).rejects.toThrow('docs/USAGE.md is larger than');
  });
});

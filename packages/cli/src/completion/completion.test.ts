import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findExecutable } from '../doctor/find-executable.js';
import { run } from '../testing/run-in-test.js';
import { PATIENTLY } from '../testing/with-gateway.js';

let script = '';
let folder = '';
beforeAll(async () => {
  script = (await run(['completion', 'bash'])).stdout;
  folder = mkdtempSync(join(tmpdir(), 'capstan-completion-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The completions that bash offers for a line with the cursor at its end. */
const complete = (line: string): string[] => {
  const words = line.split(' ');
  const quoted = words.map((word) => `'${word}'`).join(' ');
  const asked = `${script}\nCOMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _capstan; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['--norc', '-c', asked], { encoding: 'utf8' }).trim().split('\n');
};

describe('the completion for bash', () => {
  it('offers commands, their commands and their options', () => {
    expect(complete('capstan in')).toEqual(['init', 'invoke']);
    expect(complete('capstan policy r')).toEqual(['rollback']);
    expect(complete('capstan --json policy add-rule --risk')).toEqual(['--risk-max', '--risk-min']);
    expect(complete('capstan list-')).toEqual(['list-runs']);
    expect(complete('capstan runs --prof')).toEqual(['--profile']);
  });
});

const hasFish = findExecutable(['fish'], process.env) !== null;
const hasZsh = findExecutable(['zsh'], process.env) !== null;

describe.skipIf(!hasFish)('the completion for fish', () => {
  it('offers commands, subcommands and options with their descriptions', async () => {
    writeFileSync(join(folder, 'capstan.fish'), (await run(['completion', 'fish'])).stdout);
    const complete = (line: string): string[] =>
      execFileSync('fish', ['--no-config', '-c', `source capstan.fish; complete -C '${line}'`], {
        cwd: folder,
        encoding: 'utf8',
      })
        .trim()
        .split('\n')
        .map((offer) => offer.split('\t').slice(0, 2).join(' - '));
    expect(complete('capstan in')).toEqual([
      'init - create a project with a tool, a policy, a plan and a test',
      'invoke - run a tool and print its result',
    ]);
    expect(complete('capstan policy r')).toEqual(['rollback - restore an earlier version, as a new version']);
    expect(complete('capstan --json policy add-rule --risk')).toHaveLength(2);
    expect(complete('capstan runs --prof')).toEqual(['--profile - a login to use']);
  });
});

describe.skipIf(!hasZsh)('the completion for zsh', () => {
  it('completes commands, subcommands and options when Tab is pressed', async () => {
    writeFileSync(join(folder, '_capstan'), (await run(['completion', 'zsh'])).stdout);
    const zsh = spawn('zsh', ['-f', '-i'], { cols: 120, env: { ...process.env, HOME: folder, TERM: 'dumb' } });
    let shown = '';
    zsh.onData((text) => {
      shown += text;
    });
    const ended = new Promise((resolve) => zsh.onExit(resolve));
    try {
      zsh.write(`autoload -U compinit; compinit -u -D; source ${folder}/_capstan; echo read''y\r`);
      await vi.waitFor(() => expect(shown).toContain('ready'), PATIENTLY);
      for (const [typed, completed] of [
        ['capstan policy r', 'capstan policy rollback '],
        ['capstan list-', 'capstan list-runs '],
        ['capstan runs --prof', 'capstan runs --profile '],
        ['capstan in', 'run a tool and print its result'],
      ] as const) {
        shown = '';
        zsh.write(`${typed}\t`);
        await vi.waitFor(() => expect(shown).toContain(completed), PATIENTLY);
        // Ctrl-U: an empty line again.
        zsh.write('\x15');
      }
    } finally {
      zsh.kill('SIGKILL');
      await ended;
    }
  });
});

it('an unsupported shell is refused with the supported ones', async () => {
  const { code, stderr } = await run(['completion', 'tcsh']);
  expect(code).toBe(2);
  expect(stderr).toContain('bash, zsh, fish');
});

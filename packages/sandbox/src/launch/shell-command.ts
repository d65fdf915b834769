import type { Launch } from '../sandbox.js';

/** What a shell can be told to start. */
export type ShellCommand = {
  launch: Launch;
  stdin: string | undefined;
};

/** Linux's limits with a stack of 8 MiB: for one argument, and for all arguments and the environment together. */
const MAX_ARGUMENT = 131_072;
const MAX_TOGETHER = 2_000_000;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Why the system would refuse to start this. Null if it would not. */
export const whyNotStarted = ({
  launch: { file, args, env },
}: ShellCommand): { code: string; message: string } | null => {
  const unfit = Object.keys(env).find((name) => !VARIABLE.test(name));
  if (unfit !== undefined) return { code: 'EINVAL', message: `${unfit} is no name of a variable` };
  let together = 0;
  for (const word of [file, ...args, ...Object.entries(env).flat()]) {
    if (word.includes('\0')) return { code: 'EINVAL', message: 'an argument contains a null character' };
    // Pointers count as well.
    const size = Buffer.byteLength(word) + 9;
    together += size;
    if (size > MAX_ARGUMENT || together > MAX_TOGETHER) return { code: 'E2BIG', message: 'too long' };
  }
  return null;
};

/**
 * The command as text for a shell. Everything from outside is in single quotes, where a shell has no other special character.
 * When it has exited, the shell writes its status to descriptor 3, which the command itself does not have.
 */
export const toShellCommand = (
  { launch: { file, args, env, cwd }, stdin }: ShellCommand,
  { stdout, stderr }: { stdout: string; stderr: string },
): string => {
  const variables = Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}; `);
  const move = cwd === '/' ? '' : `cd ${quote(cwd)} && unset OLDPWD && `;
  const start = `(${variables.join('')}${move}exec ${[file, ...args].map(quote).join(' ')})`;
  const no_input = stdin === undefined ? '</dev/null ' : '';
  const input = stdin === undefined ? '' : `printf %b ${quote(escapeForPrintf(stdin))} 3>&- | `;
  return `${input}${start} ${no_input}>${quote(stdout)} 2>${quote(stderr)} 3>&-\necho $? >&3\n`;
};

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A word of a shell cannot contain a null character. */
const escapeForPrintf = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\0', '\\0000');

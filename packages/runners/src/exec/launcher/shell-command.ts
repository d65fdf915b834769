import type { Launch } from '../../sandbox/sandbox.js';

/** What a shell can be told to start. */
export type ShellCommand = {
  launch: Launch;
  stdin: string | undefined;
};

/** Of one argument, and of all with the environment: what Linux takes with a stack of 8 MiB. */
const MAX_ARGUMENT = 131_072;
const MAX_TOGETHER = 2_000_000;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Why the system would not start this; null when it would. */
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
 * The command as text for a shell. Everything that is not ours is between single quotes, in which a shell knows no other
 * special character; after it has ended, its status is written to 3, which it does not have itself.
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

/** No word of a shell can hold a null character. */
const escapeForPrintf = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\0', '\\0000');

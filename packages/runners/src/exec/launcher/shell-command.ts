import type { Launch } from '../../sandbox/sandbox.js';

/** What a shell can be told to start. */
export type ShellCommand = {
  launch: Launch;
  stdin: string | undefined;
  /** Whether it is bubblewrap, and is to tell the first process of its namespace. */
  tells_init: boolean;
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

/** Opened anew, so that what a tool does to its own (to make it non-blocking, say) is not done to the next one's. */
const STREAMS = process.platform === 'linux' ? '>/proc/self/fd/1 2>/proc/self/fd/4 4>&-' : '2>&4 4>&-';

/**
 * The command as text for a shell. Everything that is not ours is between single quotes, in which a shell knows no other
 * special character; after it has ended, `mark` and its status are written to both streams.
 */
export const toShellCommand = ({ launch, stdin, tells_init }: ShellCommand, mark: string): string => {
  const { file, args, env, cwd } = launch;
  const told = tells_init ? ['--info-fd', '3'] : [];
  const variables = Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}; `);
  const move = cwd === '/' ? '' : `cd ${quote(cwd)} && unset OLDPWD && `;
  const start = `(${variables.join('')}${move}exec ${[file, ...told, ...args].map(quote).join(' ')})`;
  const no_input = stdin === undefined ? '</dev/null ' : '';
  const input = stdin === undefined ? '' : `printf %b ${quote(escapeForPrintf(stdin))} | `;
  return `${input}${start} ${no_input}${STREAMS}${tells_init ? '' : ' 3>&-'}\ns=$?; echo ${mark}$s; echo ${mark}$s >&4\n`;
};

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** No word of a shell can hold a null character. */
const escapeForPrintf = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\0', '\\0000');

/** Arguments of a program that somebody looks for. */
export type ArgumentRule = {
  /** Long options, without the dashes. */
  long?: readonly string[];
  /** Letters of short options, which may stand together with others. */
  short?: string;
  words?: readonly string[];
  /** Of any argument, options or not. */
  values?: RegExp;
};

/** Programs for which `--` does not end the options, or whose arguments are code. */
const WITHOUT_DOUBLE_DASH: ReadonlySet<string> = new Set([
  'find',
  'dd',
  'test',
  '[',
  'expr',
  'ffmpeg',
  'java',
  'gcc',
  'openssl',
  'ip',
]);

export const honoursDoubleDash = (executable: string): boolean => !WITHOUT_DOUBLE_DASH.has(executable);

/** The first argument that the rule is about, apart from those that are `exempt`. */
export function findArgument(
  rule: ArgumentRule,
  executable: string,
  args: readonly string[],
  exempt: (arg: string) => boolean = () => false,
): string | undefined {
  const end = args.indexOf('--');
  return args.find((arg, at) => {
    if (exempt(arg)) return false;
    const isOption = arg.startsWith('-') && (end < 0 || at < end || !honoursDoubleDash(executable));
    return (isOption && isNamed(rule, arg)) || rule.values?.test(arg) === true;
  });
}

const isNamed = ({ long = [], short = '', words = [] }: ArgumentRule, arg: string): boolean =>
  isLong(arg, long) || isShort(arg, short) || words.includes(arg);

/** An unambiguous beginning of a long option is that option to getopt. */
function isLong(arg: string, names: readonly string[]): boolean {
  if (!arg.startsWith('--')) return false;
  const name = arg.slice(2).split('=', 1)[0] ?? '';
  return name !== '' && names.some((given) => given === name || (name.length > 2 && given.startsWith(name)));
}

/** Short options may stand together: `-xvI` has an I. */
const isShort = (arg: string, letters: string): boolean =>
  !arg.startsWith('--') && [...arg.slice(1)].some((letter) => letters.includes(letter));

export const both = (one: ArgumentRule, other: ArgumentRule): ArgumentRule => ({
  long: [...(one.long ?? []), ...(other.long ?? [])],
  short: `${one.short ?? ''}${other.short ?? ''}`,
  words: [...(one.words ?? []), ...(other.words ?? [])],
  ...((other.values ?? one.values) ? { values: other.values ?? one.values } : {}),
});

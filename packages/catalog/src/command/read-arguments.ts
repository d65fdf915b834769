/** Arguments in order, and flags by name with all their values; a flag alone is true. */
export type TypedArguments = { args: string[]; flags: Map<string, (string | true)[]> };

export type Reading = {
  /** True for a flag without a value. */
  isSwitch?: (flag: string) => boolean;
  /** The key for a flag as typed (`--k`, or `--k=` with its value); by default the flag without dashes. */
  keyOf?: (typed: string) => string;
};

/** Accepts `--k v`, `--k=v`, `-k v` and `-k`; `--` ends the flags. */
export function readArguments(words: readonly string[], { isSwitch, keyOf = flagName }: Reading): TypedArguments {
  const args: string[] = [];
  const flags = new Map<string, (string | true)[]>();
  const add = (flag: string, value: string | true) => flags.set(flag, [...(flags.get(flag) ?? []), value]);
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--') return { args: [...args, ...words.slice(at + 1)], flags };
    if (!isFlag(word)) {
      args.push(word);
      continue;
    }
    const joined = word.indexOf('=') + 1;
    const next = words[at + 1];
    if (joined > 0) add(keyOf(word.slice(0, joined)), word.slice(joined));
    else if (isSwitch?.(flagName(word)) || next === undefined || isFlag(next) || next === '--') add(keyOf(word), true);
    else {
      add(keyOf(word), next);
      at += 1;
    }
  }
  return { args, flags };
}

/** A signed number is not a flag. */
const isFlag = (word: string): boolean => /^--?[A-Za-z]/.test(word);

/** The `k` in `-k`, `--k` and `--k=`. */
export const flagName = (typed: string): string => typed.replace(/^--?/, '').replace(/=$/, '');

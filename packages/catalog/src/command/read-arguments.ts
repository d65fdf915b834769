/** Arguments in order, and flags by name with all their values; a flag alone is true. */
export type TypedArguments = { args: string[]; flags: Map<string, (string | true)[]> };

/** `--k v`, `--k=v`, `-k v`, `-k`; `--` ends them. `isSwitch` says which flags take no value. */
export function readArguments(words: readonly string[], isSwitch: (flag: string) => boolean): TypedArguments {
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
    const [name = '', ...rest] = word.replace(/^--?/, '').split('=');
    const next = words[at + 1];
    if (rest.length > 0) add(name, rest.join('='));
    else if (isSwitch(name) || next === undefined || isFlag(next) || next === '--') add(name, true);
    else {
      add(name, next);
      at += 1;
    }
  }
  return { args, flags };
}

/** A number with a sign is none. */
const isFlag = (word: string): boolean => /^--?[A-Za-z]/.test(word);

/** Matches ids against patterns with `*` for any part: `app:billing:*`. Without patterns, every id matches. */
export const matching = (match: string | readonly string[] | undefined): ((tool_id: string) => boolean) => {
  if (match === undefined) return () => true;
  const patterns = [match].flat().map(toPattern);
  return (tool_id) => patterns.some((pattern) => pattern.test(tool_id));
};

const toPattern = (match: string): RegExp => new RegExp(`^${match.split('*').map(literally).join('.*')}$`);
const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

const MAX_NAME = 64;

/** Creates tool names that models accept: letters, digits, dash and underscore. If two ids give the same name, the later one is numbered. */
export const createNames = (): ((tool_id: string) => string) => {
  const taken = new Set<string>();
  return (tool_id) => {
    const plain = tool_id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(-MAX_NAME);
    let name = plain;
    for (let n = 2; taken.has(name); n++) name = `${plain.slice(0, MAX_NAME - 4)}_${n}`;
    taken.add(name);
    return name;
  };
};

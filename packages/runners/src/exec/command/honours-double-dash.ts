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

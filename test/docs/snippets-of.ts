export type Snippet = {
  /** Empty where the fence names none. */
  language: string;
  /** The name it is saved under. */
  file: string | undefined;
  text: string;
  /** TypeScript that readers are not shown: where its names come from. */
  given: string;
  /** False behind a comment `<!-- not run: why -->`. */
  isRun: boolean;
};

const FENCE =
  /(?<skipped><!-- not run: .+ -->\n+)?(?:<!-- given:\n(?<given>[\s\S]*?)-->\n+)?^(?<indent> *)```(?<language>\w*)(?: file=(?<file>\S+))?\n(?<text>[\s\S]*?)^\k<indent>```$/gm;

/** The fenced blocks of a page, in order. */
export const snippetsOf = (page: string): Snippet[] =>
  [...page.matchAll(FENCE)].map(({ groups = {} }) => ({
    language: groups.language ?? '',
    file: groups.file,
    text: groups.text ?? '',
    given: groups.given ?? '',
    isRun: groups.skipped === undefined,
  }));

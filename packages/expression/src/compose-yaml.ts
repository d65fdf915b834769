import { Composer, type Document, Lexer, type LineCounter, Parser } from 'yaml';

const MAX_DEPTH = 100;
/** The most anchors and aliases together, because the library compares each with all earlier ones. */
const MAX_ANCHORS = 1000;
/** A text with more errors than this is refused, because each error takes time to report. */
const MAX_ERRORS = 20;
/** The lexer emits this before the text of a scalar. */
const SCALAR = '\u001f';

export type Composed =
  | { ok: true; document: Document.Parsed; more: Document.Parsed | undefined }
  | { ok: false; why: string; offset: number };

/**
 * Parses the first document of a text, and the second one if there is one. Texts that would take the library long are refused while
 * they are tokenized, before a document is built: a million brackets would take a minute.
 */
export function composeYaml(text: string, lines: LineCounter): Composed {
  let refused: { why: string; offset: number } | undefined;
  function* tokens() {
    const parser = new Parser(lines.addNewLine);
    const check = createCheck();
    lines.addNewLine(0);
    let offset = 0;
    for (const lexeme of new Lexer().lex(text)) {
      for (const token of parser.next(lexeme)) {
        if (token.type === 'error') check.errors += 1;
        yield token;
      }
      const why = check.refusalOf(lexeme, parser.stack.length);
      if (why !== undefined) {
        refused = { why, offset };
        return;
      }
      if (!MARKS.has(lexeme)) offset += lexeme.length;
    }
    yield* parser.end();
  }
  // The library would compare every key with every other one. `yamlMistakes` finds duplicates in one pass.
  const composed = new Composer({ lineCounter: lines, uniqueKeys: false }).compose(tokens(), true, text.length);
  const [document, more] = composed;
  if (refused) return { ok: false, ...refused };
  if (!document) return { ok: false, why: 'is empty', offset: 0 };
  return { ok: true, document, more };
}

/** Lexemes that mark the structure and do not occur in the text. */
const MARKS: ReadonlySet<string> = new Set(['\u0002', '\u0018', SCALAR]);

function createCheck() {
  let anchors = 0;
  let isScalar = false;
  const check = {
    errors: 0,
    refusalOf: (lexeme: string, depth: number): string | undefined => {
      if (!isScalar && /^[&*]/.test(lexeme)) anchors += 1;
      isScalar = !isScalar && lexeme === SCALAR;
      if (depth > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
      if (anchors > MAX_ANCHORS) return `has more than ${MAX_ANCHORS} anchors and aliases`;
      return check.errors > MAX_ERRORS ? 'has too many mistakes to name' : undefined;
    },
  };
  return check;
}

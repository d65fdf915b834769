import { Composer, type Document, Lexer, type LineCounter, Parser } from 'yaml';

const MAX_DEPTH = 100;

export type Composed =
  | { ok: true; document: Document.Parsed; more: Document.Parsed | undefined }
  | { ok: false; why: string };

/** The first document of a text, and the one after it if there is one. The library takes a minute for a million brackets. */
export function composeYaml(text: string, lines: LineCounter): Composed {
  const parser = new Parser(lines.addNewLine);
  let tooDeep = false;
  function* tokens() {
    lines.addNewLine(0);
    for (const lexeme of new Lexer().lex(text)) {
      yield* parser.next(lexeme);
      tooDeep = parser.stack.length > MAX_DEPTH;
      if (tooDeep) return;
    }
    yield* parser.end();
  }
  // Keys are compared with each other by the library, all of them: `findMistakes` does it in one pass.
  const composed = new Composer({ lineCounter: lines, uniqueKeys: false }).compose(tokens(), true, text.length);
  const [document, more] = composed;
  if (tooDeep || !document) return { ok: false, why: `is nested deeper than ${MAX_DEPTH} levels` };
  return { ok: true, document, more };
}

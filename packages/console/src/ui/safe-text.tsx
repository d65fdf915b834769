import { visibleLine, visibleText } from '@capstan/contracts/visible-text';
import type { ReactNode } from 'react';

/**
 * Text that a tool or a person wrote. It is never interpreted as HTML. Control characters and characters that change the text
 * direction are escaped and marked, so that nothing is hidden.
 */
export function SafeText({ text, line = true }: { text: string; line?: boolean }) {
  const shown = line ? visibleLine(text) : visibleText(text);
  return <bdi className="safe">{shown === text ? text : marked(line ? text.replace(/\r?\n|\t/g, ' ') : text)}</bdi>;
}

/** Splits text into runs of plain characters and single escaped characters. */
function marked(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let plain = '';
  for (const char of text.replaceAll('\r\n', '\n')) {
    const shown = visibleText(char);
    if (shown === char) plain += char;
    else {
      parts.push(plain, <Unseen key={parts.length} spelled={shown} code={char.codePointAt(0) ?? 0} />);
      plain = '';
    }
  }
  parts.push(plain);
  return parts;
}

const Unseen = ({ spelled, code }: { spelled: string; code: number }) => (
  <span
    className="unseen"
    title={`U+${code.toString(16).toUpperCase().padStart(4, '0')}, a character that does not show`}
  >
    {spelled}
  </span>
);

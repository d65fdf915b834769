import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createOutput } from './output.js';

const screen = (isTTY: boolean, options = {}) => {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  return { output: createOutput(Object.assign(stream, { isTTY }), {}, options), text: () => text };
};
const HOSTILE = 'a\u001b[31mb\u001b]0;t\u0007c\u009b2Jd\u202ee\u200bf';
const SHOWN = 'a\\x1b[31mb\\x1b]0;t\\x07c\\x9b2Jd\\u202ee\\u200bf';

describe('output', () => {
  it.each([true, false])('makes control characters visible (on a terminal: %s)', async (tty) => {
    const { output, text } = screen(tty);
    await output.line(HOSTILE);
    expect(text()).toBe(`${SHOWN}\n`);
  });

  it('writes its own colours, around hostile text too', async () => {
    const { output, text } = screen(true);
    const { colors } = output;
    await output.write(`${colors.red(`x ${HOSTILE}`)} ${HOSTILE} ${colors.bold(colors.red('in'))}`);
    expect(text()).toBe(`\u001b[31mx ${SHOWN}\u001b[39m ${SHOWN} \u001b[1m\u001b[31min\u001b[39m\u001b[22m`);
  });

  it('does not accept an escape sequence that a tool has copied from our colors', async () => {
    const { output, text } = screen(true);
    await output.write(output.colors.red('x'));
    await output.write(text());
    expect(text()).toBe('\u001b[31mx\u001b[39m\\x1b[31mx\\x1b[39m');
  });

  it('escapes nothing with raw', async () => {
    const { output, text } = screen(true, { raw: true });
    await output.write(output.colors.dim('x') + HOSTILE);
    expect(text()).toBe(`\u001b[2mx\u001b[22m${HOSTILE}`);
  });

  it('lets only its own cursor movements through', async () => {
    const { output, text } = screen(true);
    await output.redraw('\u001b[2K', `\u001b[1A${output.colors.red('x')}`, '\u001b[0J');
    expect(text()).toBe('\u001b[2K\\x1b[1A\u001b[31mx\u001b[39m\u001b[0J');
  });
});

import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createOutput } from '../output.js';
import { createProgress } from './progress.js';

const screen = (tty: boolean) => {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  return {
    output: createOutput(Object.assign(stream, { isTTY: tty, columns: 100 }), { NO_COLOR: '1' }),
    text: () => text,
  };
};

describe('progress in a pipe', () => {
  it('is a plain line about every second, with rate and ETA', async () => {
    let time = 0;
    const { output, text } = screen(false);
    const progress = createProgress(output, 'submitting', () => time);
    for (let tick = 1; tick <= 30; tick += 1) {
      time = tick * 100;
      await progress.update(tick * 1000, tick / 100);
    }
    await progress.end();
    expect(text()).toBe(
      [
        'submitting: 10,000, 10%, 10,000/s, ETA 9s',
        'submitting: 20,000, 20%, 10,000/s, ETA 8s',
        'submitting: 30,000, 30%, 10,000/s, ETA 7s',
        '',
      ].join('\n'),
    );
  });

  it('prints nothing if all is done within a second', async () => {
    const { output, text } = screen(false);
    const progress = createProgress(output, 'submitting', () => 0);
    await progress.update(5, 1);
    await progress.end();
    expect(text()).toBe('');
  });

  it('omits percentage and ETA if the total is unknown', async () => {
    let time = 0;
    const { output, text } = screen(false);
    const progress = createProgress(output, 'submitting', () => time);
    time = 2_000;
    await progress.update(500, null);
    expect(text()).toBe('submitting: 500, 250/s\n');
  });
});

describe('progress on a terminal', () => {
  it('is one line that is redrawn and finally cleared', async () => {
    let time = 0;
    const { output, text } = screen(true);
    const progress = createProgress(output, 'submitting', () => time);
    time = 1_000;
    await progress.update(50, 0.5);
    time = 1_050;
    await progress.update(60, 0.6);
    await progress.end();
    const clear = '\r\u001b[2K';
    expect(text()).toBe(`${clear}submitting ${'█'.repeat(14)}${'░'.repeat(14)} 50  50%  50/s  ETA 1s${clear}`);
  });

  it('follows a rate that changes', async () => {
    let time = 0;
    const { output, text } = screen(false);
    const progress = createProgress(output, 'x', () => time);
    for (let second = 1; second <= 20; second += 1) {
      time = second * 1000;
      await progress.update(second <= 10 ? second * 100 : 1000 + (second - 10), null);
    }
    expect(text().trimEnd().split('\n').at(-1)).toBe('x: 1,010, 1/s');
  });
});

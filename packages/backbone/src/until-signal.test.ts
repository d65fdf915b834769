import { afterEach, expect, test, vi } from 'vitest';
import { untilSignal } from './until-signal.js';

const before = { SIGINT: process.listeners('SIGINT'), SIGTERM: process.listeners('SIGTERM') };
afterEach(() => {
  vi.restoreAllMocks();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    for (const listener of process.listeners(signal))
      if (!before[signal].includes(listener)) process.off(signal, listener);
});

test('a signal that arrives twice at once asks for one orderly stop; another one later ends the process', async () => {
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`exited with ${code}`);
  });
  const now = vi.spyOn(performance, 'now').mockReturnValue(10_000);
  const asked = untilSignal();
  const send = () => process.emit('SIGINT', 'SIGINT');
  send();
  send();
  expect(await asked).toBe('SIGINT');
  now.mockReturnValue(12_000);
  expect(send).toThrow('exited with 130');
});

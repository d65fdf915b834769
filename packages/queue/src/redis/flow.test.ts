import { describe, expect, test } from 'vitest';
import { memoryRelay } from '../testing/memory-relay.js';
import { flowOf, openFlow } from './flow.js';

describe('the flow to Redis', () => {
  test('is open for every runner type until the coordinator says otherwise', () => {
    const relay = memoryRelay();
    const flow = openFlow(relay);
    expect([flow.isOpen('exec'), flow.isOpen('builtin')]).toEqual([true, true]);
    relay.say('flow', flowOf('exec', false), flowOf('builtin', true));
    expect([flow.isOpen('exec'), flow.isOpen('builtin')]).toEqual([false, true]);
    relay.say('flow', flowOf('exec', true));
    expect(flow.isOpen('exec')).toBe(true);
  });

  test('is shut by a process that leaves a call waiting, until the coordinator opens it', () => {
    const relay = memoryRelay();
    const flow = openFlow(relay);
    flow.shut('exec');
    expect([flow.isOpen('exec'), flow.isOpen('builtin')]).toEqual([false, true]);
    relay.say('flow', flowOf('exec', true));
    expect(flow.isOpen('exec')).toBe(true);
  });

  test('ignores unknown runner types and other topics', () => {
    const relay = memoryRelay();
    const flow = openFlow(relay);
    relay.say('flow', 'tomorrow/shut', '', '/shut');
    relay.say('ready', 'exec/shut');
    expect([flow.isOpen('exec'), flow.isOpen('builtin')]).toEqual([true, true]);
  });

  test('has no listener after it is closed', () => {
    const relay = memoryRelay();
    openFlow(relay).close();
    expect(relay.listening()).toBe(0);
  });
});

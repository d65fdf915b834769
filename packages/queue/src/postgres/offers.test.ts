import { describe, expect, test } from 'vitest';
import { memoryRelay } from '../testing/memory-relay.js';
import { offerOf, openOffers } from './offers.js';

function openTest() {
  const relay = memoryRelay();
  const clock = { now: 0 };
  return { relay, clock, offers: openOffers(relay, () => clock.now) };
}

describe('offers of workers', () => {
  test('do not exist until a worker makes one, and apply only to its runner type', () => {
    const { relay, offers } = openTest();
    expect(offers.best('exec')).toBeNull();
    relay.say('room', offerOf('wrk_1', 'exec', 3));
    expect(offers.best('exec')).toMatchObject({ worker_id: 'wrk_1', room: 3 });
    expect(offers.best('builtin')).toBeNull();
  });

  test('are used starting with the largest, which spreads calls over the workers', () => {
    const { relay, offers } = openTest();
    relay.say('room', offerOf('wrk_1', 'exec', 2), offerOf('wrk_2', 'exec', 3));
    const used: string[] = [];
    for (let offer = offers.best('exec'); offer; offer = offers.best('exec')) {
      used.push(offer.worker_id);
      offers.use('exec', offer.worker_id, 1);
    }
    expect(used.toSorted()).toEqual(['wrk_1', 'wrk_1', 'wrk_2', 'wrk_2', 'wrk_2']);
    expect(used[0]).toBe('wrk_2');
  });

  test('are replaced by the next offer of the same worker', () => {
    const { relay, offers } = openTest();
    relay.say('room', offerOf('wrk_1', 'exec', 1));
    offers.use('exec', 'wrk_1', 1);
    expect(offers.best('exec')).toBeNull();
    relay.say('room', offerOf('wrk_1', 'exec', 5));
    expect(offers.best('exec')).toMatchObject({ room: 5 });
    relay.say('room', offerOf('wrk_1', 'exec', 0));
    expect(offers.best('exec')).toBeNull();
  });

  test('expire after 6 s unless they are repeated, so that nothing is handed to a dead worker', () => {
    const { relay, clock, offers } = openTest();
    relay.say('room', offerOf('wrk_1', 'exec', 9), offerOf('wrk_2', 'exec', 1));
    clock.now = 5000;
    relay.say('room', offerOf('wrk_2', 'exec', 1));
    expect(offers.best('exec')).toMatchObject({ worker_id: 'wrk_1' });
    clock.now = 6001;
    expect(offers.best('exec')).toMatchObject({ worker_id: 'wrk_2' });
    clock.now = 11_001;
    expect(offers.best('exec')).toBeNull();
  });

  test('are ignored if they are malformed', () => {
    const { relay, offers } = openTest();
    relay.say('room', '', 'wrk_1', 'wrk_1/exec', 'wrk_1/exec/many', 'wrk_1/exec/-1', 'wrk_1/tomorrow/5');
    expect(offers.best('exec')).toBeNull();
  });

  test('have no listener after they are closed', () => {
    const { relay, offers } = openTest();
    offers.close();
    expect(relay.listening()).toBe(0);
  });
});

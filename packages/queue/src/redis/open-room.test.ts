import { expect, test } from 'vitest';
import { openRoom } from './open-room.js';

test('never more than there is, and whoever asks first is served first', async () => {
  const room = openRoom(10);
  expect(await room.take(7)).toBe(7);
  expect(await room.take(7)).toBe(3);
  const served: string[] = [];
  const first = room.take(2).then((taken) => served.push(`first ${taken}`));
  const second = room.take(5).then((taken) => served.push(`second ${taken}`));
  room.give(1);
  await first;
  expect(served).toEqual(['first 1']);
  room.give(4);
  await second;
  expect(served).toEqual(['first 1', 'second 4']);
});

test('room that appears together is given together', async () => {
  const room = openRoom(2);
  await room.take(2);
  const next = room.take(2);
  room.give(1);
  room.give(1);
  expect(await next).toBe(2);
});

import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { startServer } from './start-server.js';
import { watchSockets } from './watch-sockets.js';

test('a watch records the connections of its own test, and none that earlier work opens meanwhile', async () => {
  const server = await startServer((_, response) => response.end());
  const dial = () => once(connect(server.port, '127.0.0.1'), 'connect');
  const wake = new EventEmitter();
  const earlier = once(wake, 'wake').then(dial);
  const watch = watchSockets();
  try {
    wake.emit('wake');
    await earlier;
    expect(watch.dialled).toEqual([]);
    await dial();
    expect(watch.dialled).toEqual([`127.0.0.1:${server.port}`]);
  } finally {
    watch.restore();
    await server.close();
  }
});

import { stat } from 'node:fs/promises';
import { createEgress } from '@capstan/egress';
import { expect, test } from 'vitest';
import { openEgressSocket } from './egress-socket.js';

const OTHERS = 0o077;

test('only the user of a sandbox can connect to its egress socket', async () => {
  const is_root = process.getuid?.() === 0;
  const identity = is_root ? { uid: 65_534, gid: 65_534 } : null;
  const { mount, close } = await openEgressSocket(identity, {
    egress: createEgress(),
    rules: { network: ['localhost'] },
  });
  const { mode, uid } = await stat(mount.source);
  expect(mode & OTHERS).toBe(0);
  expect(uid).toBe(identity?.uid ?? process.getuid?.());
  await close();
  await expect(stat(mount.source)).rejects.toThrow('ENOENT');
});

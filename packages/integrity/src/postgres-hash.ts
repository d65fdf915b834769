/**
 * Postgres' `hashtext`: Bob Jenkins' lookup3 with Postgres' own seed. Hash indexes and hash partitions depend on it, so it is the
 * same in all versions and on all machines.
 */
export function postgresHash(text: string): number {
  const bytes = Buffer.from(text);
  const state = new Uint32Array(3).fill(0x9e3779b9 + bytes.length + 3923095);
  let at = 0;
  for (; bytes.length - at >= 12; at += 12) {
    for (let word = 0; word < 3; word++) state[word] = (state[word] ?? 0) + bytes.readUInt32LE(at + 4 * word);
    for (const [into, from, by] of MIX) {
      const other = (into + 1) % 3;
      state[into] = ((state[into] ?? 0) - (state[from] ?? 0)) ^ rotated(state[from] ?? 0, by);
      state[from] = (state[from] ?? 0) + (state[other] ?? 0);
    }
  }
  for (let rest = 0; rest < bytes.length - at; rest++) {
    // The lowest byte of the third word is reserved for the length.
    const place = rest < 8 ? rest : rest + 1;
    const word = place >> 2;
    state[word] = (state[word] ?? 0) + ((bytes[at + rest] ?? 0) << (8 * (place % 4)));
  }
  for (const [into, from, by] of FINAL)
    state[into] = ((state[into] ?? 0) ^ (state[from] ?? 0)) - rotated(state[from] ?? 0, by);
  return (state[2] ?? 0) | 0;
}

const rotated = (value: number, by: number): number => (value << by) | (value >>> (32 - by));

type Round = readonly [into: number, from: number, by: number];
const MIX: readonly Round[] = [
  [0, 2, 4],
  [1, 0, 6],
  [2, 1, 8],
  [0, 2, 16],
  [1, 0, 19],
  [2, 1, 4],
];
const FINAL: readonly Round[] = [
  [2, 1, 14],
  [0, 2, 11],
  [1, 0, 25],
  [2, 1, 16],
  [0, 2, 4],
  [1, 0, 14],
  [2, 1, 24],
];

import type { Json } from '@capstan/contracts';

export type Room = {
  /** Returns false if the entry does not fit any more. */
  take(entry: Json): boolean;
};

/** Counts the entries of a list that fit into a payload of `max_bytes`. `around` is the payload without them. */
export const createRoom = (max_bytes: number, around: Json): Room => {
  let left = max_bytes - bytesOf(around);
  return {
    take: (entry) => {
      // Plus one byte for the comma.
      left -= bytesOf(entry) + 1;
      return left >= 0;
    },
  };
};

/** Returns as many entries as fit. */
export const fitting = <Entry extends Json>(entries: readonly Entry[], room: Room): Entry[] => {
  const end = entries.findIndex((entry) => !room.take(entry));
  return entries.slice(0, end === -1 ? entries.length : end);
};

const bytesOf = (value: Json): number => Buffer.byteLength(JSON.stringify(value));

import type { Json } from '@capstan/contracts';

export type Room = {
  /** False when it does not fit any more. */
  take(entry: Json): boolean;
};

/** Room for the entries of a list, in a payload of so many bytes; `around` is the payload without them. */
export const createRoom = (max_bytes: number, around: Json): Room => {
  let left = max_bytes - bytesOf(around);
  return {
    take: (entry) => {
      // One for the comma.
      left -= bytesOf(entry) + 1;
      return left >= 0;
    },
  };
};

/** As many of them as there is room for. */
export const fitting = <Entry extends Json>(entries: readonly Entry[], room: Room): Entry[] => {
  const end = entries.findIndex((entry) => !room.take(entry));
  return entries.slice(0, end === -1 ? entries.length : end);
};

const bytesOf = (value: Json): number => Buffer.byteLength(JSON.stringify(value));

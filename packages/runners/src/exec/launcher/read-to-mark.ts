/**
 * Passes on the bytes of one run from a pipe that serves many, until `mark`, a number and a line end. A mark is random, so
 * no output contains it; of what may be its beginning as much is held back as could be, and no more.
 */
export const readToMark = (
  mark: string,
  onData: (chunk: Uint8Array) => void,
  onEnd: (status: number) => void,
): ((chunk: Buffer) => void) => {
  const wanted = Buffer.from(mark);
  let held: Buffer | null = null;
  return (chunk) => {
    const data = held === null ? chunk : Buffer.concat([held, chunk]);
    const at = startOf(wanted, data);
    if (at > 0) onData(data.subarray(0, at));
    held = at < data.length ? data.subarray(at) : null;
    if (held === null || held.length <= wanted.length || held.at(-1) !== LINE_END) return;
    onEnd(Number(held.toString('latin1', wanted.length)));
  };
};

const LINE_END = 10;

/** Where the mark, or what may become it, begins; the length where it does not. */
const startOf = (wanted: Buffer, data: Buffer): number => {
  const whole = data.indexOf(wanted);
  if (whole !== -1) return whole;
  for (let at = Math.max(0, data.length - wanted.length + 1); at < data.length; at += 1)
    if (wanted.subarray(0, data.length - at).equals(data.subarray(at))) return at;
  return data.length;
};

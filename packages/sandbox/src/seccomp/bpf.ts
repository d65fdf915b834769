/** Classic BPF, as seccomp accepts it: eight bytes for each instruction, in the byte order of the machine. */
export type Instruction = { code: number; jt: number; jf: number; k: number };

const LOAD_WORD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;

const RET_ERRNO = 0x0005_0000;
export const ALLOW = 0x7fff_0000;
export const KILL_PROCESS = 0x8000_0000;
export const errno = (number: number): number => RET_ERRNO | number;

/** Offsets of the fields in `struct seccomp_data`. */
export const NUMBER = 0;
export const ARCHITECTURE = 4;
/**
 * The lower half of an argument. The kernel treats nearly all arguments that are checked here as 32 bits wide and drops the upper
 * half. A filter that compared the upper half too could be bypassed by setting it.
 */
export const argument = (index: number): number => 16 + 8 * index;
/** The upper half of an argument that is an address, and therefore uses both halves. */
export const upperHalf = (offset: number): number => offset + 4;

export const load = (offset: number): Instruction => ({ code: LOAD_WORD, jt: 0, jf: 0, k: offset });
export const answer = (action: number): Instruction => ({ code: RETURN, jt: 0, jf: 0, k: action });

type Test = 'equal' | 'at_least' | 'any_bit';
const CODES: Record<Test, number> = {
  equal: JUMP_IF_EQUAL,
  at_least: JUMP_IF_AT_LEAST,
  any_bit: JUMP_IF_ANY_BIT,
};

/** Runs `then` if the loaded value passes the test, and skips it otherwise. */
export const when = (test: Test, k: number, then: readonly Instruction[]): Instruction[] => [
  { code: CODES[test], jt: 0, jf: within(then.length), k },
  ...then,
];

/** Runs `then` if the loaded value fails the test. */
export const unless = (test: Test, k: number, then: readonly Instruction[]): Instruction[] => [
  { code: CODES[test], jt: within(then.length), jf: 0, k },
  ...then,
];

/** The distance of a jump has eight bits. */
const within = (distance: number): number => {
  if (distance > 255) throw new RangeError(`a BPF jump over ${distance} instructions`);
  return distance;
};

export const encode = (program: readonly Instruction[]): Buffer => {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(({ code, jt, jf, k }, index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jt, index * 8 + 2);
    bytes.writeUInt8(jf, index * 8 + 3);
    bytes.writeUInt32LE(k >>> 0, index * 8 + 4);
  });
  return bytes;
};

import type { Condition, Encoder, Operand, Register, Step } from './assembler.js';

/** x19 to x24. */
const REGISTERS: Record<Register, number> = { a: 19, b: 20, c: 21, d: 22, e: 23, f: 24 };
/** As an operand of most instructions: zero. As one of `add`: the stack pointer. */
const X31 = 31;
const SYSTEM_CALL_NUMBER = 8;
const CONDITIONS: Record<Condition, number> = { equal: 0, not_equal: 1, at_least: 10, less: 11 };

const word = (instruction: number): number[] => [
  instruction & 255,
  (instruction >>> 8) & 255,
  (instruction >>> 16) & 255,
  (instruction >>> 24) & 255,
];

const fitting = (value: number, bits: number): number => {
  if (value < 0 || value >= 2 ** bits) throw new RangeError(`${value} does not fit into ${bits} bits`);
  return value;
};
const signed = (value: number, bits: number): number => {
  if (value < -(2 ** (bits - 1)) || value >= 2 ** (bits - 1)) throw new RangeError(`${value} is too far`);
  return value & (2 ** bits - 1);
};

const move = (to: number, from: number): number[] => word(0xaa00_03e0 | (from << 16) | to);

/** Sixteen bits at a time; of a negative number the opposite bits are set. */
const constant = (to: number, value: number): number[] => {
  if (value !== (value | 0)) throw new RangeError(`${value} does not fit`);
  const low = value & 0xffff;
  const high = (value >>> 16) & 0xffff;
  if (value < 0) return [...word(0x9280_0000 | ((~low & 0xffff) << 5) | to), ...word(0xf2a0_0000 | (high << 5) | to)];
  return [...word(0xd280_0000 | (low << 5) | to), ...word(0xf2a0_0000 | (high << 5) | to)];
};

const set = (to: number, from: Operand, address: (data: string) => number): number[] => {
  if (typeof from === 'string') return move(to, REGISTERS[from]);
  return constant(to, typeof from === 'number' ? from : address(from.data));
};

const addNumber = (to: number, value: number): number[] =>
  word((value < 0 ? 0xd100_0000 : 0x9100_0000) | (fitting(Math.abs(value), 12) << 10) | (to << 5) | to);

/** UBFM: shifts a register. `first` and `last` are its `immr` and `imms`. */
const bitField = (to: number, first: number, last: number): number[] =>
  word(0xd340_0000 | (first << 16) | (last << 10) | (to << 5) | to);

const compare = (left: number, right: number | Register): number[] => {
  if (typeof right === 'string') return word(0xeb00_001f | (REGISTERS[right] << 16) | (left << 5));
  return word((right < 0 ? 0xb100_001f : 0xf100_001f) | (fitting(Math.abs(right), 12) << 10) | (left << 5));
};

const LOADS: Record<1 | 4 | 8, number> = { 1: 0x3940_0000, 4: 0xb940_0000, 8: 0xf940_0000 };

export const arm64: Encoder = {
  machine: 183,
  encode: (step: Step, address, distance) => {
    switch (step.op) {
      case 'label':
        return [];
      case 'set':
        return set(REGISTERS[step.to], step.from, address);
      case 'stack_pointer':
        return word(0x9100_0000 | (X31 << 5) | REGISTERS[step.to]);
      case 'add': {
        const to = REGISTERS[step.to];
        if (typeof step.value === 'number') return addNumber(to, step.value);
        return word(0x8b00_0000 | (REGISTERS[step.value] << 16) | (to << 5) | to);
      }
      case 'negate':
        return word(0xcb00_03e0 | (REGISTERS[step.to] << 16) | REGISTERS[step.to]);
      case 'times_ten': {
        const to = REGISTERS[step.to];
        // x + 4x, then shifted left by one: 10x.
        return [...word(0x8b00_0800 | (to << 16) | (to << 5) | to), ...bitField(to, 63, 62)];
      }
      case 'shift_left':
        return bitField(REGISTERS[step.to], 64 - step.bits, 63 - step.bits);
      case 'shift_right':
        return bitField(REGISTERS[step.to], step.bits, 63);
      case 'keep_low':
        return bitField(REGISTERS[step.to], 0, step.bits - 1);
      case 'load':
        return word(
          LOADS[step.bytes] |
            (fitting(step.offset / step.bytes, 12) << 10) |
            (REGISTERS[step.base] << 5) |
            REGISTERS[step.to],
        );
      case 'store':
        return word(
          0xb900_0000 | (fitting(step.offset / 4, 12) << 10) | (REGISTERS[step.base] << 5) | REGISTERS[step.from],
        );
      case 'jump':
        return word(0x1400_0000 | signed(distance(step.to) / 4, 26));
      case 'branch': {
        const test = compare(REGISTERS[step.left], step.right);
        const far = signed((distance(step.to) - test.length) / 4, 19);
        return [...test, ...word(0x5400_0000 | (far << 5) | CONDITIONS[step.when])];
      }
      case 'call':
        return [
          ...step.arguments.flatMap((argument, index) => set(index, argument, address)),
          ...constant(SYSTEM_CALL_NUMBER, step.number),
          ...word(0xd400_0001),
          ...(step.result === null ? [] : move(REGISTERS[step.result], 0)),
        ];
    }
  },
};

import type { Condition, Encoder, Operand, Register, Step } from './assembler.js';

/** rbx, rbp and r12 to r15: the kernel leaves them alone. */
const REGISTERS: Record<Register, number> = { a: 3, b: 5, c: 12, d: 13, e: 14, f: 15 };
const RAX = 0;
const RSP = 4;
/** rdi, rsi, rdx, r10, r8, r9. */
const ARGUMENTS = [7, 6, 2, 10, 8, 9];
const JUMPS: Record<Condition, number> = { equal: 0x84, not_equal: 0x85, less: 0x8c, at_least: 0x8d };

const int32 = (value: number): number[] => [value & 255, (value >> 8) & 255, (value >> 16) & 255, (value >> 24) & 255];

/** The prefix that makes an instruction 64 bits wide and names the upper half of the registers. */
const rex = (wide: boolean, reg: number, rm: number): number =>
  0x40 | (wide ? 8 : 0) | (reg > 7 ? 4 : 0) | (rm > 7 ? 1 : 0);

/** From register to register, or with `reg` as part of the operation's code. */
const direct = (operation: readonly number[], reg: number, rm: number): number[] => [
  rex(true, reg, rm),
  ...operation,
  0xc0 | ((reg & 7) << 3) | (rm & 7),
];

/** To or from memory at a register and a distance. */
const memory = (operation: readonly number[], wide: boolean, reg: number, base: number, offset: number): number[] => [
  rex(wide, reg, base),
  ...operation,
  0x80 | ((reg & 7) << 3) | (base & 7),
  ...((base & 7) === RSP ? [0x24] : []),
  ...int32(offset),
];

const set = (to: number, from: Operand, address: (data: string) => number): number[] => {
  if (typeof from === 'string') return direct([0x89], REGISTERS[from], to);
  const value = typeof from === 'number' ? from : address(from.data);
  if (value !== (value | 0)) throw new RangeError(`${value} does not fit`);
  return [...direct([0xc7], 0, to), ...int32(value)];
};

const withNumber = (extension: number, to: number, value: number): number[] => [
  ...direct([0x81], extension, to),
  ...int32(value),
];

const LOADS: Record<1 | 4 | 8, readonly [operation: readonly number[], wide: boolean]> = {
  1: [[0x0f, 0xb6], true],
  4: [[0x8b], false],
  8: [[0x8b], true],
};

export const x64: Encoder = {
  machine: 62,
  encode: (step: Step, address, distance) => {
    switch (step.op) {
      case 'label':
        return [];
      case 'set':
        return set(REGISTERS[step.to], step.from, address);
      case 'stack_pointer':
        return direct([0x89], RSP, REGISTERS[step.to]);
      case 'add':
        return typeof step.value === 'number'
          ? withNumber(0, REGISTERS[step.to], step.value)
          : direct([0x01], REGISTERS[step.value], REGISTERS[step.to]);
      case 'negate':
        return direct([0xf7], 3, REGISTERS[step.to]);
      case 'times_ten':
        // imul
        return [...direct([0x69], REGISTERS[step.to], REGISTERS[step.to]), ...int32(10)];
      case 'shift_left':
        return [...direct([0xc1], 4, REGISTERS[step.to]), step.bits];
      case 'shift_right':
        return [...direct([0xc1], 5, REGISTERS[step.to]), step.bits];
      case 'keep_low':
        return withNumber(4, REGISTERS[step.to], 2 ** step.bits - 1);
      case 'load': {
        const [operation, wide] = LOADS[step.bytes];
        return memory(operation, wide, REGISTERS[step.to], REGISTERS[step.base], step.offset);
      }
      case 'store':
        return memory([0x89], false, REGISTERS[step.from], REGISTERS[step.base], step.offset);
      case 'jump':
        return [0xe9, ...int32(distance(step.to) - 5)];
      case 'branch': {
        const compare =
          typeof step.right === 'number'
            ? withNumber(7, REGISTERS[step.left], step.right)
            : direct([0x39], REGISTERS[step.right], REGISTERS[step.left]);
        return [...compare, 0x0f, JUMPS[step.when], ...int32(distance(step.to) - compare.length - 6)];
      }
      case 'call':
        return [
          ...step.arguments.flatMap((argument, index) => set(ARGUMENTS[index] ?? RAX, argument, address)),
          ...set(RAX, step.number, address),
          ...[0x0f, 0x05],
          ...(step.result === null ? [] : direct([0x89], RAX, REGISTERS[step.result])),
        ];
    }
  },
};

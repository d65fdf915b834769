/**
 * A small instruction set that is the same for every architecture, enough for system calls, loops and comparisons. Registers are
 * 64 bits wide and keep their values across system calls.
 */
export type Register = 'a' | 'b' | 'c' | 'd' | 'e' | 'f';
export type Label = string;
/** A number, the value of a register, or the address of a piece of data. */
export type Operand = number | Register | { data: string };
export type Condition = 'equal' | 'not_equal' | 'less' | 'at_least';

export type Step =
  | { op: 'label'; name: Label }
  | { op: 'set'; to: Register; from: Operand }
  | { op: 'stack_pointer'; to: Register }
  | { op: 'add'; to: Register; value: number | Register }
  | { op: 'negate' | 'times_ten'; to: Register }
  | { op: 'shift_left' | 'shift_right'; to: Register; bits: number }
  | { op: 'keep_low'; to: Register; bits: number }
  | { op: 'load'; to: Register; base: Register; offset: number; bytes: 1 | 4 | 8 }
  | { op: 'store'; from: Register; base: Register; offset: number }
  | { op: 'jump'; to: Label }
  | { op: 'branch'; when: Condition; left: Register; right: number | Register; to: Label }
  | { op: 'call'; number: number; arguments: readonly Operand[]; result: Register | null };

/** Encodes the steps for one architecture. */
export type Encoder = {
  /** ELF's number for the architecture. */
  machine: number;
  /** The bytes of one step. `distance` is how far a label is from the beginning of the step. */
  encode(step: Step, address: (data: string) => number, distance: (label: Label) => number): number[];
};

/** The size of a step does not depend on distances, so labels can be placed in a first pass. */
export const assemble = (steps: readonly Step[], encoder: Encoder, address: (data: string) => number): Buffer => {
  const labels = new Map<Label, number>();
  let at = 0;
  const starts = steps.map((step) => {
    const start = at;
    if (step.op === 'label') labels.set(step.name, at);
    at += encoder.encode(step, address, () => 0).length;
    return start;
  });
  const place = (label: Label): number => {
    const found = labels.get(label);
    if (found === undefined) throw new Error(`no label ${label}`);
    return found;
  };
  return Buffer.from(
    steps.flatMap((step, index) => encoder.encode(step, address, (label) => place(label) - (starts[index] ?? 0))),
  );
};

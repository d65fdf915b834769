import { assemble, type Encoder, type Step } from './assembler.js';

/** Named pieces of writable data. */
export type Data = Readonly<Record<string, Buffer>>;

const BASE = 0x40_0000;
const HEADER = 64;
const PROGRAM_HEADER = 56;
/** The largest page size of the supported architectures. */
const PAGE = 0x1_0000;
const READ_EXECUTE = 5;
const READ_WRITE = 6;
const GNU_STACK = 0x6474_e551;

/** Builds a static executable with code and data in separate segments. Nothing is both writable and executable. */
export const buildElf = (steps: readonly Step[], data: Data, encoder: Encoder): Buffer => {
  const code_at = HEADER + 3 * PROGRAM_HEADER;
  const { bytes, offsets } = layOut(data);
  // The length of the code does not depend on the addresses of data.
  const code_length = assemble(steps, encoder, () => BASE).length;
  const data_at = roundUp(code_at + code_length, 16);
  const data_base = BASE + PAGE * Math.ceil((data_at + PAGE) / PAGE) + (data_at % PAGE);
  const address = (name: string): number => {
    const offset = offsets.get(name);
    if (offset === undefined) throw new Error(`no data ${name}`);
    return data_base + offset;
  };
  const file = Buffer.alloc(data_at + bytes.length);
  writeHeader(file, encoder.machine, BASE + code_at);
  const segments = [
    { type: 1, flags: READ_EXECUTE, offset: 0, address: BASE, size: code_at + code_length },
    { type: 1, flags: READ_WRITE, offset: data_at, address: data_base, size: bytes.length },
    { type: GNU_STACK, flags: READ_WRITE, offset: 0, address: 0, size: 0 },
  ];
  segments.forEach((segment, index) => {
    writeProgramHeader(file, HEADER + index * PROGRAM_HEADER, segment);
  });
  assemble(steps, encoder, address).copy(file, code_at);
  bytes.copy(file, data_at);
  return file;
};

const layOut = (data: Data) => {
  const offsets = new Map<string, number>();
  const parts: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(data)) {
    offsets.set(name, at);
    const padded = Buffer.alloc(roundUp(content.length, 16));
    content.copy(padded);
    parts.push(padded);
    at += padded.length;
  }
  return { offsets, bytes: Buffer.concat(parts) };
};

const roundUp = (value: number, to: number): number => Math.ceil(value / to) * to;

const writeHeader = (file: Buffer, machine: number, entry: number): void => {
  // 64 bits, little-endian, version 1.
  file.write('\x7fELF\x02\x01\x01', 'latin1');
  // An executable at fixed addresses.
  file.writeUInt16LE(2, 16);
  file.writeUInt16LE(machine, 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(BigInt(entry), 24);
  file.writeBigUInt64LE(BigInt(HEADER), 32);
  file.writeUInt16LE(HEADER, 52);
  file.writeUInt16LE(PROGRAM_HEADER, 54);
  file.writeUInt16LE(3, 56);
};

type Segment = { type: number; flags: number; offset: number; address: number; size: number };

const writeProgramHeader = (file: Buffer, at: number, { type, flags, offset, address, size }: Segment): void => {
  file.writeUInt32LE(type, at);
  file.writeUInt32LE(flags, at + 4);
  const fields = [offset, address, address, size, size, type === 1 ? PAGE : 16];
  fields.forEach((value, index) => {
    file.writeBigUInt64LE(BigInt(value), at + 8 + index * 8);
  });
};

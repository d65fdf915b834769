import { ESCAPES, holdsSequence, NOISE, noiseMode, WIDE_NOISE } from './noise.js';

/**
 * Finds all of many literals in one pass over the text (Aho–Corasick, as one dense table): a load per character, whatever the
 * literals are. ASCII letters are folded to lower case where `fold` says so.
 *
 *     state after "…x g h" ──'p'──▶ "ghp" ──'_'──▶ "ghp_"  (hit)
 *
 */
export type Automaton<Value> = {
  /** Whether any literal may be in the text. */
  finds(text: string): boolean;
  reader(): Reader<Value>;
};

/** Reads a text chunk by chunk. Places are in the whole. */
export type Reader<Value> = {
  /** Calls `hit` with the values of each literal that ends at `end`, and where each begins. */
  read(chunk: string, start: number, hit: OnHit<Value>): void;
  /**
   * From where on the text may be the beginning of a hidden literal, and so must not be given back yet: the first place for
   * which `mayBegin` agrees that one of `values` may begin there. Infinity when there is none.
   */
  held(mayBegin: (value: Value, from: number) => boolean): number;
};

type OnHit<Value> = (value: Value, from: number, end: number) => void;

export type Literal<Value> = { text: string; value: Value /** It is part of the secret. */; hidden: boolean };
export type Hit<Value> = { value: Value; length: number };

type Node<Value> = {
  next: Map<number, number>;
  fail: number;
  depth: number;
  /** What has begun here and is not complete. */
  begun: Value[];
  hits: Hit<Value>[];
};

/** The line end and indentation between two characters of a value that is wrapped; what is farther apart is two things. */
export const MAX_GAP = 200;
const LINE_END = 0x0a;
/**
 * Of a line that has ended, so much of a value has to be there for it to be held. Most lines end with a letter that some form
 * of some value begins with, and whoever follows a log wants to see them.
 */
const MIN_HELD = 3;
/** A power of two, and more than the longest literal. */
const MAX_LITERAL = 16;

const foldCode = (code: number): number => (code >= 65 && code <= 90 ? code + 32 : code);
const keepCode = (code: number): number => code;

/** `skip_noise`: a literal is found also where noise stands between its characters. It may have 15 of them. */
export const createAutomaton = <Value>(
  literals: readonly Literal<Value>[],
  { fold, skip_noise = false }: { fold: boolean; skip_noise?: boolean },
): Automaton<Value> => {
  const toCode = fold ? foldCode : keepCode;
  const nodes = buildTrie(literals, toCode);
  const { classOf, wide, width, noise, sequence } = classesOf(nodes, toCode, skip_noise);
  linkFailures(nodes);
  const table = toTable(nodes, { wide, width, noise, sequence });
  const hitsOf = nodes.map(({ hits }) => hits);
  const isHit = new Uint8Array(table.length);
  for (const [index, hits] of hitsOf.entries()) isHit[index * width] = hits.length > 0 ? 1 : 0;
  isHit[nodes.length * width] = 1;

  const finds = (text: string): boolean => {
    let row = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      row = table[row + (code < 128 ? (classOf[code] ?? 0) : (wide.get(code) ?? 0))] ?? 0;
      if (isHit[row] === 1) return true;
    }
    return false;
  };
  const report = (row: number, end: number, placeOf: (back: number) => number, hit: OnHit<Value>): void => {
    for (const { value, length } of hitsOf[row / width] ?? []) hit(value, placeOf(length), end);
  };
  const plainReader = (): Reader<Value> => {
    let row = 0;
    let read_to = 0;
    const placeOf = (back: number): number => read_to - back;
    return {
      read: (chunk, start, hit) => {
        for (let at = 0; at < chunk.length; at += 1) {
          const code = chunk.charCodeAt(at);
          row = table[row + (code < 128 ? (classOf[code] ?? 0) : (wide.get(code) ?? 0))] ?? 0;
          if (isHit[row] !== 1) continue;
          read_to = start + at + 1;
          report(row, read_to, placeOf, hit);
        }
        read_to = start + chunk.length;
      },
      held: (mayBegin) => heldFrom(nodes, row / width, 1, placeOf, mayBegin),
    };
  };
  const noisyReader = (): Reader<Value> => {
    /** Where the last characters that are not noise stand. */
    const places = new Float64Array(MAX_LITERAL);
    let count = 0;
    let row = 0;
    let mode = 0;
    /** How much noise came last, and whether a line ended in it. */
    let gap = 0;
    let line_ended = false;
    const pass = (code: number): void => {
      gap += 1;
      line_ended ||= code === LINE_END;
      if (gap > MAX_GAP) row = 0;
    };
    const placeOf = (back: number): number => places[(count - back) & (MAX_LITERAL - 1)] ?? 0;
    return {
      read: (chunk, start, hit) => {
        const sequences = mode > 0 || holdsSequence(chunk);
        for (let at = 0; at < chunk.length; at += 1) {
          const code = chunk.charCodeAt(at);
          const member = code < 128 ? (classOf[code] ?? 0) : (wide.get(code) ?? 0);
          const next = sequences ? noiseMode(mode, code) : member === noise ? 0 : -1;
          mode = Math.max(0, next);
          if (next >= 0) {
            pass(code);
            continue;
          }
          gap = 0;
          line_ended = false;
          places[count & (MAX_LITERAL - 1)] = start + at;
          count += 1;
          row = table[row + member] ?? 0;
          if (isHit[row] === 1) report(row, start + at + 1, placeOf, hit);
        }
      },
      held: (mayBegin) => heldFrom(nodes, row / width, line_ended ? MIN_HELD : 1, placeOf, mayBegin),
    };
  };
  return { finds, reader: skip_noise ? noisyReader : plainReader };
};

/** From the longest beginning to the shortest, of those that are long enough. */
const heldFrom = <Value>(
  nodes: readonly Node<Value>[],
  state: number,
  least: number,
  placeOf: (back: number) => number,
  mayBegin: (value: Value, from: number) => boolean,
): number => {
  for (let node = nodes[state]; node && node.depth >= least; node = nodes[node.fail]) {
    const from = placeOf(node.depth);
    if (node.begun.some((value) => mayBegin(value, from))) return from;
  }
  return Number.POSITIVE_INFINITY;
};

const newNode = <Value>(depth: number): Node<Value> => ({ next: new Map(), fail: 0, depth, begun: [], hits: [] });

const buildTrie = <Value>(literals: readonly Literal<Value>[], toCode: (code: number) => number): Node<Value>[] => {
  const nodes: Node<Value>[] = [newNode(0)];
  for (const { text, value, hidden } of literals) {
    let node = nodes[0];
    for (let at = 0; at < text.length && node; at += 1) {
      const code = toCode(text.charCodeAt(at));
      let index = node.next.get(code);
      if (index === undefined) {
        index = nodes.push(newNode(at + 1)) - 1;
        node.next.set(code, index);
      }
      node = nodes[index];
      // Once it is complete, the rule that it belongs to says what is held.
      if (hidden && at < text.length - 1) node?.begun.push(value);
    }
    node?.hits.push({ value, length: text.length });
  }
  return nodes;
};

/** Characters that no literal has share class 0; noise has the last one, which leaves every state as it is. */
const classesOf = <Value>(nodes: Node<Value>[], toCode: (code: number) => number, skip_noise: boolean) => {
  const wide = new Map<number, number>();
  for (const { next } of nodes) for (const code of next.keys()) if (!wide.has(code)) wide.set(code, wide.size + 1);
  const noise = skip_noise ? wide.size + 1 : -1;
  const sequence = skip_noise ? wide.size + 2 : -1;
  const classOf = new Uint16Array(128);
  for (let code = 0; code < 128; code += 1)
    classOf[code] = skip_noise && NOISE[code] === 1 ? noise : (wide.get(toCode(code)) ?? 0);
  const width = wide.size + (skip_noise ? 3 : 1);
  if (skip_noise) {
    for (const code of WIDE_NOISE) wide.set(code, noise);
    for (const code of ESCAPES) {
      if (code < 128) classOf[code] = sequence;
      else wide.set(code, sequence);
    }
  }
  return { classOf, wide, width, noise, sequence };
};

/** Breadth first: the longest proper suffix that is also a beginning. Its hits are ours too. */
const linkFailures = <Value>(nodes: Node<Value>[]): void => {
  const queue = [0];
  for (let head = 0; head < queue.length; head += 1) {
    const index = queue[head] ?? 0;
    for (const [code, child] of nodes[index]?.next ?? []) {
      queue.push(child);
      const node = nodes[child];
      if (!node) continue;
      let fail = index === 0 ? -1 : (nodes[index]?.fail ?? 0);
      while (fail > 0 && !nodes[fail]?.next.has(code)) fail = nodes[fail]?.fail ?? 0;
      node.fail = fail < 0 ? 0 : (nodes[fail]?.next.get(code) ?? 0);
      const suffix = nodes[node.fail];
      if (!suffix) continue;
      node.hits.push(...suffix.hits);
    }
  }
};

const toTable = <Value>(
  nodes: Node<Value>[],
  { wide, width, noise, sequence }: { wide: Map<number, number>; width: number; noise: number; sequence: number },
): Uint32Array => {
  const table = new Uint32Array((nodes.length + 1) * width);
  const order = nodes.map((_, index) => index).sort((a, b) => (nodes[a]?.depth ?? 0) - (nodes[b]?.depth ?? 0));
  for (const index of order) {
    const node = nodes[index];
    if (!node) continue;
    // A row begins as that of its suffix, which is shorter and so complete already.
    if (index !== 0) table.copyWithin(index * width, node.fail * width, (node.fail + 1) * width);
    for (const [code, child] of node.next) table[index * width + (wide.get(code) ?? 0)] = child * width;
    if (noise < 0) continue;
    table[index * width + noise] = index * width;
    // The row after all others: `finds` says yes, and whoever reads then looks at the sequence.
    table[index * width + sequence] = nodes.length * width;
  }
  return table;
};

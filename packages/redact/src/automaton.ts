import { NOISE } from './noise.js';
import { hasWays, MORE, NOTHING, newWay, type Way, wayFrom } from './ways.js';

/**
 * Finds many literals in one pass over the text (Aho–Corasick as one dense table), with one table lookup per character. With
 * `fold`, ASCII letters match in any case.
 *
 *     state after "…x g h" ──'p'──▶ "ghp" ──'_'──▶ "ghp_"  (hit)
 *
 */
export type Automaton<Value> = {
  /** True if the text may contain a literal. */
  finds(text: string): boolean;
  reader(): Reader<Value>;
};

/** Reads a text chunk by chunk. Positions are relative to the whole text. */
export type Reader<Value> = {
  /** Calls `hit` for each literal found, with its value, start and end. */
  read(chunk: string, start: number, hit: OnHit<Value>): void;
  /**
   * The position from which the text must be held back, because a hidden literal may begin there and `mayBegin` agrees. Infinity
   * if there is none.
   */
  held(mayBegin: (value: Value, from: number) => boolean): number;
};

type OnHit<Value> = (value: Value, from: number, end: number) => void;

export type Literal<Value> = { text: string; value: Value /** True if it is part of the secret. */; hidden: boolean };
export type Hit<Value> = { value: Value; length: number };

type Node<Value> = {
  next: Map<number, number>;
  fail: number;
  depth: number;
  /** The literals that are incomplete at this node. */
  begun: Value[];
  hits: Hit<Value>[];
};

/** The most noise between two characters of a wrapped value: a line end and indentation. */
export const MAX_GAP = 200;
const LINE_END = 0x0a;
/**
 * The least characters of a value at the end of a line for which text is held back. Most lines end with a letter that some form of
 * some value begins with, and they must still appear at once in a log that is followed.
 */
const MIN_HELD = 3;
/** A power of two that is greater than the length of the longest literal. */
const MAX_LITERAL = 16;

const foldCode = (code: number): number => (code >= 65 && code <= 90 ? code + 32 : code);
const keepCode = (code: number): number => code;

/** With `skip_noise`, a literal is found even with noise between its characters. It may have at most 15 characters. */
export const createAutomaton = <Value>(
  literals: readonly Literal<Value>[],
  { fold, skip_noise = false }: { fold: boolean; skip_noise?: boolean },
): Automaton<Value> => {
  const toCode = fold ? foldCode : keepCode;
  const nodes = buildTrie(literals, toCode);
  const { classOf, wide, width } = classesOf(nodes, toCode);
  linkFailures(nodes);
  const table = toTable(nodes, { wide, width });
  const hitsOf = nodes.map(({ hits }) => hits);
  const isHit = new Uint8Array(table.length);
  for (const [index, hits] of hitsOf.entries()) isHit[index * width] = hits.length > 0 ? 1 : 0;

  const finds = (text: string): boolean => {
    if (skip_noise && hasWays(text)) return true;
    let row = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (skip_noise && NOISE[code] === 1) continue;
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
    const plain = newHead(0);
    const heads: (Head | undefined)[] = [plain];
    const take = (head: Head, read: number, code: number, at: number, hit: OnHit<Value>): void => {
      if (read === MORE && head.escaped_from < 0) head.escaped_from = at;
      if (read < 0) {
        head.gap += 1;
        head.line_ended ||= code === LINE_END;
        if (head.gap > MAX_GAP) head.row = 0;
        if (read === NOTHING) head.escaped_from = -1;
        return;
      }
      head.gap = 0;
      head.line_ended = false;
      head.places[head.count & (MAX_LITERAL - 1)] = head.escaped_from < 0 ? at : head.escaped_from;
      head.escaped_from = -1;
      head.count += 1;
      head.row = table[head.row + (read < 128 ? (classOf[read] ?? 0) : (wide.get(read) ?? 0))] ?? 0;
      if (isHit[head.row] === 1) report(head.row, at + 1, (back) => placeIn(head, back), hit);
    };
    return {
      read: (chunk, start, hit) => {
        for (let at = 0; at < chunk.length; at += 1) {
          const code = chunk.charCodeAt(at);
          const way = wayFrom(code);
          if (way !== 0 && heads[way] === undefined) heads[way] = newHead(way, plain);
          take(plain, NOISE[code] === 1 ? NOTHING : code, code, start + at, hit);
          if (heads.length === 1) continue;
          for (let other = 1; other < heads.length; other += 1) {
            const head = heads[other];
            if (head) take(head, head.way.read(code), code, start + at, hit);
          }
          closeWays(heads);
        }
      },
      held: (mayBegin) =>
        heads.reduce((least, head) => {
          if (!head) return least;
          const placeOf = (back: number) => placeIn(head, back);
          const from = heldFrom(nodes, head.row / width, head.line_ended ? MIN_HELD : 1, placeOf, mayBegin);
          return Math.min(least, from, head.escaped_from < 0 ? Number.POSITIVE_INFINITY : head.escaped_from);
        }, Number.POSITIVE_INFINITY),
    };
  };
  return { finds, reader: skip_noise ? noisyReader : plainReader };
};

/** How far a text was read in one way. */
type Head = {
  way: Way;
  row: number;
  /** The positions of the last characters that are not noise, and how many there were. */
  places: Float64Array;
  count: number;
  /** The length of the noise read last, and whether it contains a line end. */
  gap: number;
  line_ended: boolean;
  /** Where the escape begins that is not complete yet; -1 if there is none. */
  escaped_from: number;
};

const newHead = (way: number, from?: Head): Head => ({
  row: 0,
  count: 0,
  gap: 0,
  line_ended: false,
  escaped_from: -1,
  ...from,
  places: from ? from.places.slice() : new Float64Array(MAX_LITERAL),
  way: newWay(way),
});

const placeIn = ({ places, count }: Head, back: number): number => places[(count - back) & (MAX_LITERAL - 1)] ?? 0;

/** Drops the ways in which no literal has begun. */
const closeWays = (heads: (Head | undefined)[]): void => {
  for (let way = 1; way < heads.length; way += 1) {
    const head = heads[way];
    if (head && head.row === 0 && head.way.idle()) heads[way] = undefined;
  }
  while (heads.length > 1 && heads.at(-1) === undefined) heads.pop();
};

/** Tries the prefixes that are long enough, from the longest to the shortest. */
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
      // Once a literal is complete, its rule decides what is held back.
      if (hidden && at < text.length - 1) node?.begun.push(value);
    }
    node?.hits.push({ value, length: text.length });
  }
  return nodes;
};

/** Characters that occur in no literal share class 0. */
const classesOf = <Value>(nodes: Node<Value>[], toCode: (code: number) => number) => {
  const wide = new Map<number, number>();
  for (const { next } of nodes) for (const code of next.keys()) if (!wide.has(code)) wide.set(code, wide.size + 1);
  const classOf = new Uint16Array(128);
  for (let code = 0; code < 128; code += 1) classOf[code] = wide.get(toCode(code)) ?? 0;
  return { classOf, wide, width: wide.size + 1 };
};

/** Links each node, breadth first, to its longest proper suffix that is also a prefix, and adds the hits of that suffix. */
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
  { wide, width }: { wide: Map<number, number>; width: number },
): Uint32Array => {
  const table = new Uint32Array(nodes.length * width);
  const order = nodes.map((_, index) => index).sort((a, b) => (nodes[a]?.depth ?? 0) - (nodes[b]?.depth ?? 0));
  for (const index of order) {
    const node = nodes[index];
    if (!node) continue;
    // A row starts as a copy of its suffix's row, which is shorter and therefore already complete.
    if (index !== 0) table.copyWithin(index * width, node.fail * width, (node.fail + 1) * width);
    for (const [code, child] of node.next) table[index * width + (wide.get(code) ?? 0)] = child * width;
  }
  return table;
};

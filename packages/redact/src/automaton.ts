/**
 * Finds all of many literals in one pass over the text (Aho–Corasick, as one dense table): a load per character, whatever the
 * literals are. ASCII letters are folded to lower case where `fold` says so.
 *
 *     state after "…x g h" ──'p'──▶ "ghp" ──'_'──▶ "ghp_"  (hit)
 *
 * The state is all that has to be carried from one chunk of a stream to the next.
 */
export type Automaton<Value> = {
  /** Reads `text` on from `state`; calls `hit` with the values of each literal that ends at `end`. Returns the state. */
  read(text: string, state: number, hit: (values: readonly Hit<Value>[], end: number) => void): number;
  /** Whether any literal is in the text. */
  finds(text: string): boolean;
  /**
   * How many characters before the state may be the beginning of a hidden literal, and so must not be given back yet: the
   * most for which `mayBegin` agrees that one of `values` may begin so far back.
   */
  held(state: number, mayBegin: (value: Value, length: number) => boolean): number;
};

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

const foldCode = (code: number): number => (code >= 65 && code <= 90 ? code + 32 : code);
const keepCode = (code: number): number => code;

export const createAutomaton = <Value>(literals: readonly Literal<Value>[], fold: boolean): Automaton<Value> => {
  const toCode = fold ? foldCode : keepCode;
  const nodes = buildTrie(literals, toCode);
  const { classOf, wide, width } = classesOf(nodes, toCode);
  linkFailures(nodes);
  const table = toTable(nodes, wide, width);
  const hitsOf = nodes.map(({ hits }) => hits);
  const isHit = new Uint8Array(table.length);
  for (const [index, hits] of hitsOf.entries()) isHit[index * width] = hits.length > 0 ? 1 : 0;

  return {
    read: (text, state, hit) => {
      let row = state * width;
      for (let at = 0; at < text.length; at += 1) {
        const code = text.charCodeAt(at);
        row = table[row + (code < 128 ? (classOf[code] ?? 0) : (wide.get(code) ?? 0))] ?? 0;
        if (isHit[row] === 1) hit(hitsOf[row / width] ?? [], at + 1);
      }
      return row / width;
    },
    finds: (text) => {
      let row = 0;
      for (let at = 0; at < text.length; at += 1) {
        const code = text.charCodeAt(at);
        row = table[row + (code < 128 ? (classOf[code] ?? 0) : (wide.get(code) ?? 0))] ?? 0;
        if (isHit[row] === 1) return true;
      }
      return false;
    },
    held: (state, mayBegin) => {
      // From the longest beginning to the shortest.
      for (let node = nodes[state]; node && node.depth > 0; node = nodes[node.fail]) {
        const { begun, depth } = node;
        if (begun.some((value) => mayBegin(value, depth))) return depth;
      }
      return 0;
    },
  };
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

/** Characters that no literal has share class 0. */
const classesOf = <Value>(nodes: Node<Value>[], toCode: (code: number) => number) => {
  const wide = new Map<number, number>();
  for (const { next } of nodes) for (const code of next.keys()) if (!wide.has(code)) wide.set(code, wide.size + 1);
  const classOf = new Uint16Array(128);
  for (let code = 0; code < 128; code += 1) classOf[code] = wide.get(toCode(code)) ?? 0;
  return { classOf, wide, width: wide.size + 1 };
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

const toTable = <Value>(nodes: Node<Value>[], wide: Map<number, number>, width: number): Uint32Array => {
  const table = new Uint32Array(nodes.length * width);
  const order = nodes.map((_, index) => index).sort((a, b) => (nodes[a]?.depth ?? 0) - (nodes[b]?.depth ?? 0));
  for (const index of order) {
    const node = nodes[index];
    if (!node) continue;
    // A row begins as that of its suffix, which is shorter and so complete already.
    if (index !== 0) table.copyWithin(index * width, node.fail * width, (node.fail + 1) * width);
    for (const [code, child] of node.next) table[index * width + (wide.get(code) ?? 0)] = child * width;
  }
  return table;
};

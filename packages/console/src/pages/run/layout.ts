/** The positions of the steps of a plan, layer by layer. */
export type Layout = {
  layers: number[][];
  place: Map<number, { x: number; y: number }>;
  /** Whether layers are rows. */
  down: boolean;
};

const SWEEPS = 4;
export const NODE_WIDTH = 190;
export const NODE_HEIGHT = 46;
const GAP_X = 70;
const GAP_Y = 16;
const GAP_DOWN = 40;
/** The most steps beside each other that can be read on a phone. */
const MAX_ACROSS = 4;

/**
 * Places a step one layer after the last step it needs, and orders the steps of a layer by the positions of their neighbors. A thousand
 * steps take a few milliseconds; dagre, which finds fewer crossings, took 1.4 to 13 seconds. Layers are columns or, on a narrow page, rows if
 * they are short.
 */
export function layOut(needs: readonly (readonly number[])[], narrow = false): Layout {
  const layers = layersOf(needs);
  const dependents: number[][] = needs.map(() => []);
  needs.forEach((before, step) => {
    for (const each of before) dependents[each]?.push(step);
  });
  const order = new Float64Array(needs.length);
  for (const layer of layers)
    layer.forEach((step, at) => {
      order[step] = at / layer.length;
    });
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const forward = sweep % 2 === 0;
    const ties = forward ? needs : dependents;
    for (const layer of forward ? layers : layers.toReversed()) {
      const wanted = new Map(layer.map((step) => [step, middle(ties[step] ?? [], order) ?? order[step] ?? 0]));
      layer.sort((one, other) => (wanted.get(one) ?? 0) - (wanted.get(other) ?? 0) || one - other);
      layer.forEach((step, at) => {
        order[step] = (at + 0.5) / layer.length;
      });
    }
  }
  const tallest = Math.max(...layers.map(({ length }) => length));
  const down = narrow && tallest <= MAX_ACROSS;
  const place = new Map(
    layers.flatMap((layer, column) => {
      const first = (tallest - layer.length) / 2;
      return layer.map((step, row): [number, { x: number; y: number }] => [
        step,
        down
          ? { x: (first + row) * (NODE_WIDTH + GAP_Y), y: column * (NODE_HEIGHT + GAP_DOWN) }
          : { x: column * (NODE_WIDTH + GAP_X), y: (first + row) * (NODE_HEIGHT + GAP_Y) },
      ]);
    }),
  );
  return { layers, place, down };
}

/** The gateway refuses plans with cycles, so every step is reached. */
function layersOf(needs: readonly (readonly number[])[]): number[][] {
  const depth = new Map<number, number>();
  const depthOf = (start: number): number => {
    const stack = [start];
    for (let step = stack.at(-1); step !== undefined; step = stack.at(-1)) {
      const unknown = (needs[step] ?? []).filter((each) => !depth.has(each));
      if (unknown.length > 0) stack.push(...unknown);
      else {
        depth.set(step, Math.max(-1, ...(needs[step] ?? []).map((each) => depth.get(each) ?? 0)) + 1);
        stack.pop();
      }
    }
    return depth.get(start) ?? 0;
  };
  const layers: number[][] = [];
  needs.forEach((_, step) => {
    const at = depthOf(step);
    layers[at] ??= [];
    layers[at].push(step);
  });
  return layers;
}

const middle = (steps: readonly number[], order: Float64Array): number | undefined =>
  steps.length === 0 ? undefined : steps.reduce((sum, step) => sum + (order[step] ?? 0), 0) / steps.length;

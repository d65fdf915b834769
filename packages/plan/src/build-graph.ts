import type { PlanStep } from '@capstan/contracts';
import type { Mistake } from './plan-error.js';
import { didYouMean } from './suggest-name.js';

/** The steps of a plan by index. `needs` and `dependents` hold indexes too. */
export type Graph = {
  ids: string[];
  places: ReadonlyMap<string, number>;
  needs: number[][];
  dependents: number[][];
  /** True if `before` is certain to have ended when `step` starts. */
  isBefore(before: number, step: number): boolean;
};

/** Builds the dependency graph. A step without `needs` depends on the previous one. */
export function buildGraph(steps: readonly PlanStep[], mistakes: Mistake[]): Graph {
  const ids = steps.map(({ id }, index) => id ?? `step_${index + 1}`);
  const places = placesOf(ids, mistakes);
  const needs = steps.map((step, index) => needsOf(step, index, places, mistakes));
  const dependents: number[][] = steps.map(() => []);
  needs.forEach((before, step) => {
    for (const each of before) dependents[each]?.push(step);
  });
  const order = sort(needs, dependents);
  if (order.length < steps.length) mistakes.push(describeCycle(ids, needs, order));
  return { ids, places, needs, dependents, isBefore: ancestry(needs, order) };
}

function placesOf(ids: readonly string[], mistakes: Mistake[]): Map<string, number> {
  const places = new Map<string, number>();
  ids.forEach((id, index) => {
    const first = places.get(id);
    if (first === undefined) places.set(id, index);
    else mistakes.push({ path: ['steps', index, 'id'], message: `${id} is already the id of steps.${first}` });
  });
  return places;
}

function needsOf(step: PlanStep, index: number, places: ReadonlyMap<string, number>, mistakes: Mistake[]): number[] {
  if (step.needs === undefined) return index === 0 ? [] : [index - 1];
  const found = new Set<number>();
  const names = typeof step.needs === 'string' ? [step.needs] : step.needs;
  names.forEach((name, at) => {
    const place = places.get(name);
    const path = ['steps', index, 'needs', ...(typeof step.needs === 'string' ? [] : [at])];
    if (place === undefined)
      mistakes.push({ path, message: `there is no step ${name}`, suggestion: didYouMean(name, places.keys()) });
    else if (place === index) mistakes.push({ path, message: `${name} needs itself` });
    else found.add(place);
  });
  return [...found];
}

/** Sorts steps topologically. Steps on a cycle, and those that depend on them, are left out. */
function sort(needs: readonly number[][], dependents: readonly number[][]): number[] {
  const unmet = needs.map((before) => before.length);
  const order = unmet.flatMap((count, step) => (count === 0 ? [step] : []));
  for (let at = 0; at < order.length; at += 1)
    for (const next of dependents[order[at] ?? 0] ?? []) {
      const left = (unmet[next] ?? 0) - 1;
      unmet[next] = left;
      if (left === 0) order.push(next);
    }
  return order;
}

function describeCycle(ids: readonly string[], needs: readonly number[][], order: readonly number[]): Mistake {
  const sorted = new Set(order);
  const seen: number[] = [];
  // Each step left out needs another one left out, so walking back ends on a cycle.
  let at = needs.findIndex((_, step) => !sorted.has(step));
  while (!seen.includes(at)) {
    seen.push(at);
    at = needs[at]?.find((before) => !sorted.has(before)) ?? at;
  }
  const cycle = [...seen.slice(seen.indexOf(at)), at].reverse().map((step) => ids[step]);
  return { path: ['steps', at, 'needs'], message: `the steps wait for each other: ${cycle.join(' → ')}` };
}

/** Answers from the direct needs if possible. Otherwise builds the transitive closure once, as bit sets. */
function ancestry(needs: readonly number[][], order: readonly number[]): Graph['isBefore'] {
  const words = Math.ceil(needs.length / 32);
  let closure: Uint32Array[] | null = null;
  const close = (): Uint32Array[] => {
    const all = needs.map(() => new Uint32Array(0));
    for (const step of order) {
      const mine = new Uint32Array(words);
      for (const before of needs[step] ?? []) {
        mine[before >>> 5] = (mine[before >>> 5] ?? 0) | (1 << (before & 31));
        const theirs = all[before] ?? mine;
        for (let word = 0; word < theirs.length; word += 1) mine[word] = (mine[word] ?? 0) | (theirs[word] ?? 0);
      }
      all[step] = mine;
    }
    return all;
  };
  return (before, step) => {
    if (needs[step]?.includes(before)) return true;
    closure ??= close();
    return ((closure[step]?.[before >>> 5] ?? 0) & (1 << (before & 31))) !== 0;
  };
}

import { Environment } from '@marcbachmann/cel-js';

/**
 * A JSON number is a double in CEL, and the `1` in an expression is an int. CEL can compare the two. These overloads add arithmetic,
 * because authors expect `inputs.n + 1` to work.
 */
const MIXED: Record<string, (a: number, b: number) => number> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
};

const base = new Environment({
  enableOptionalTypes: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 2000, maxDepth: 64, maxListElements: 1000, maxMapEntries: 1000, maxCallArguments: 16 },
});
for (const [op, apply] of Object.entries(MIXED)) {
  const count = (a: number | bigint, b: number | bigint) => apply(Number(a), Number(b));
  base.registerOperator(`double ${op} int: double`, count);
  base.registerOperator(`int ${op} double: double`, count);
}
base.registerOperator('double % double: double', (a: number, b: number) => a % b);

const environments = new Map<string, Environment>();
const MAX_KEPT = 64;

/** Caches environments, because creating one is expensive and there are few sets of variables. */
export function environmentWith(variables: readonly string[]): Environment {
  const key = variables.join(' ');
  const known = environments.get(key);
  if (known) return known;
  const environment = base.clone();
  for (const name of variables) environment.registerVariable(name, 'dyn');
  if (environments.size < MAX_KEPT) environments.set(key, environment);
  return environment;
}

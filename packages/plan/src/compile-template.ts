import type { Json } from '@capstan/contracts';
import { compileExpression, type Expression } from '@capstan/expression';
import { hasTemplate, splitTemplate } from './split-template.js';

/** The variables of an expression. `item` and `index` exist only in steps with `for_each`. */
export type Context = Record<string, unknown>;
export type Filled = { ok: true; value: Json } | { ok: false; message: string };
export type Template = {
  /** All expressions, with their positions in the document. */
  expressions: { expression: Expression; path: readonly PropertyKey[] }[];
  fill(context: Context): Filled;
  /** Fills in the expressions that are known, and keeps the source of the others. */
  preview(context: Context, isKnown: (expression: Expression) => boolean): Filled & { unknown: string[] };
};

export type TemplateMistake = { path: readonly PropertyKey[]; message: string; suggestion?: string | undefined };
type Evaluate = (expression: Expression) => Json;
/** Null if there is nothing to fill in, so that constant parts are shared, not copied. */
type Build = ((evaluate: Evaluate) => Json) | null;

class Unfilled extends Error {}

export type Compiler = {
  /** Compiles a value with `${{ }}` anywhere within. */
  template(value: Json, path: readonly PropertyKey[]): Template;
  /** Compiles a single expression, with or without `${{ }}` around it. */
  expression(text: string, path: readonly PropertyKey[]): Expression | null;
};

/** Compiles equal expressions only once. */
export function createCompiler(variables: readonly string[], mistakes: TemplateMistake[]): Compiler {
  const known = new Map<string, Expression | null>();
  const compile = (source: string, path: readonly PropertyKey[]): Expression | null => {
    const before = known.get(source);
    if (before !== undefined) {
      if (before === null) mistakes.push({ path, message: `\${{ ${source} }} is not a valid expression` });
      return before;
    }
    const compiled = compileExpression(source, variables);
    if (!compiled.ok)
      mistakes.push({
        path,
        message: `\${{ ${source} }}: ${compiled.error.message} (at ${compiled.error.column})`,
        suggestion: aboutHyphens(source),
      });
    known.set(source, compiled.ok ? compiled.expression : null);
    return compiled.ok ? compiled.expression : null;
  };

  const template = (value: Json, path: readonly PropertyKey[]): Template => {
    const expressions: Template['expressions'] = [];
    const build = buildOf(
      value,
      path,
      (source, at) => {
        const expression = compile(source, at);
        if (expression) expressions.push({ expression, path: at });
        return expression;
      },
      mistakes,
    );
    const run = (evaluate: Evaluate): Filled => {
      if (!build) return { ok: true, value };
      try {
        return { ok: true, value: build(evaluate) };
      } catch (error) {
        if (error instanceof Unfilled) return { ok: false, message: error.message };
        throw error;
      }
    };
    return {
      expressions,
      fill: (context) => run((expression) => valueIn(expression, context)),
      preview: (context, isKnown) => {
        const unknown: string[] = [];
        const filled = run((expression) => {
          if (isKnown(expression)) return valueIn(expression, context);
          unknown.push(expression.source);
          return `\${{ ${expression.source} }}`;
        });
        return { ...filled, unknown };
      },
    };
  };

  return {
    template,
    expression: (text, path) => {
      if (!hasTemplate(text)) return compile(text.trim(), path);
      const split = splitTemplate(text.trim());
      const [only, ...more] = split.ok ? split.parts : [];
      if (!split.ok) mistakes.push({ path, message: split.message });
      else if (only && 'source' in only && more.length === 0) return compile(only.source, path);
      else mistakes.push({ path, message: 'expected a single expression and nothing else' });
      return null;
    },
  };
}

/** CEL reads `steps.my-step` as a subtraction. */
function aboutHyphens(source: string): string | undefined {
  const [, root, name] = /\b(steps|inputs)\.([A-Za-z_]\w*-[\w-]*\w)/.exec(source) ?? [];
  return name === undefined ? undefined : `Write ${root}['${name}'], because the name has a hyphen.`;
}

function valueIn(expression: Expression, context: Context): Json {
  const outcome = expression.evaluate(context);
  if (outcome.ok) return outcome.value;
  throw new Unfilled(`\${{ ${expression.source} }}: ${outcome.error.message}`);
}

type Compile = (source: string, path: readonly PropertyKey[]) => Expression | null;

function buildOf(value: Json, path: readonly PropertyKey[], compile: Compile, mistakes: TemplateMistake[]): Build {
  if (typeof value === 'string') return hasTemplate(value) ? textOf(value, path, compile, mistakes) : null;
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) {
    const builds = value.map((each, index) => buildOf(each, [...path, index], compile, mistakes));
    if (builds.every((build) => build === null)) return null;
    return (evaluate) =>
      value.map((each, index) => {
        const build = builds[index];
        return build ? build(evaluate) : each;
      });
  }
  const builds = Object.entries(value).map(
    ([key, each]) => [key, each, buildOf(each, [...path, key], compile, mistakes)] as const,
  );
  if (builds.every(([, , build]) => build === null)) return null;
  return (evaluate) => Object.fromEntries(builds.map(([key, each, build]) => [key, build ? build(evaluate) : each]));
}

function textOf(text: string, path: readonly PropertyKey[], compile: Compile, mistakes: TemplateMistake[]): Build {
  const split = splitTemplate(text);
  if (!split.ok) {
    mistakes.push({ path, message: split.message });
    return null;
  }
  const parts = split.parts.map((part) => ('text' in part ? part.text : compile(part.source, path)));
  const [only, ...more] = parts;
  // An expression on its own keeps its type; within text it becomes text.
  if (more.length === 0 && typeof only === 'object' && only !== null) return (evaluate) => evaluate(only);
  return (evaluate) =>
    parts.map((part) => (typeof part === 'string' ? part : part ? asText(evaluate(part)) : '')).join('');
}

const asText = (value: Json): string =>
  value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

export * from './compile-expression.js';
export type { ExpressionError } from './expression-error.js';
export type { Reference } from './find-references.js';
export * from './read-yaml.js';

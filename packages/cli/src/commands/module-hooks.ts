import type { ResolveHook } from 'node:module';

/** Loads TypeScript as ES modules whatever package.json says, so that it may await at its top level. tsx takes it for CommonJS by default. */
export const resolve: ResolveHook = async (specifier, context, next) => {
  const found = await next(specifier, context);
  const is_ours = /\.tsx?(?:\?|$)/.test(found.url) && !found.url.includes('/node_modules/');
  return is_ours && found.format === 'commonjs' ? { ...found, format: 'module' } : found;
};

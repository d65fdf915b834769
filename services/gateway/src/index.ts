export * from './env.js';
export { ensureExtension } from './extension/ensure-extension.js';
export type { GatewayOptions } from './gateway-options.js';
export * from './run-gateway.js';
export * from './start-gateway.js';

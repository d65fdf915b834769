export * from './canonical-json.js';
export * from './hash-chain.js';
export * from './hash-json.js';

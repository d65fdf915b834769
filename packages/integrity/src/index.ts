export * from './bundle.js';
export * from './canonical-json.js';
export * from './hash-chain.js';
export * from './hash-json.js';
export * from './record.js';
export * from './seal.js';
export * from './verify-record.js';

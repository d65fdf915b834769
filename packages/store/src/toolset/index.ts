export * from './toolsets.js';

export * from './read-seal.js';

export * from './look-for-work.js';

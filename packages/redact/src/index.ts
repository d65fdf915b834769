export * from './create-redactor.js';
export * from './live-redactor.js';
export { REPLACEMENT } from './scanner.js';

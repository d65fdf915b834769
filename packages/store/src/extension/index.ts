export * from './change-extension.js';
export * from './install-extension.js';
export * from './read-extensions.js';

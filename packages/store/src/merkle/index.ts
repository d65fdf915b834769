export * from './append-to-log.js';
export * from './find-log-entries.js';
export * from './read-superseded.js';
export * from './read-tiles.js';

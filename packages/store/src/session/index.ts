export * from './delete-old-sessions.js';
export * from './get-session.js';
export * from './last-response.js';
export * from './read-session-files.js';
export * from './remove-session-file.js';
export * from './scratchpad.js';
export * from './session-scope.js';
export * from './write-session-file.js';

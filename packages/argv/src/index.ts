export * from './is-destructive.js';
export * from './is-shell-name.js';
export * from './judge-command.js';
export * from './profile-book.js';
export * from './suggest-rule.js';

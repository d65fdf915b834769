export * from './identities.js';
export * from './logins.js';

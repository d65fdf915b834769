/** The version of all packages and services; a test compares it with package.json. */
export const VERSION = '0.1.0';

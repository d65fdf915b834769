export * from './create-redactor.js';

export * from './openapi-documents.js';

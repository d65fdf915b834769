export * from './atip-documents.js';

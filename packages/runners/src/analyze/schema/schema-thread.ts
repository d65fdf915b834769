import { parentPort } from 'node:worker_threads';
import { analyzeSchema, type SchemaRequest } from './analyze-schema.js';

/** `analyze.schema`, on a thread of its own: what a schema can ask for has no end, so ending the thread is how it is stopped. */
parentPort?.on('message', (request: SchemaRequest) => parentPort?.postMessage(analyzeSchema(request)));

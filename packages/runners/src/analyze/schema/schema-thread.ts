import { parentPort } from 'node:worker_threads';
import { analyzeSchema, type SchemaRequest } from './analyze-schema.js';

/** `analyze.schema` on a separate thread: an analysis may run for any time, and terminating the thread is the only way to stop it. */
parentPort?.on('message', (request: SchemaRequest) => parentPort?.postMessage(analyzeSchema(request)));

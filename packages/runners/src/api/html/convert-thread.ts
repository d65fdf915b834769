import { parentPort } from 'node:worker_threads';
import type { ConvertJob, ConvertReply } from './create-converter.js';
import { toMarkdown } from './to-markdown.js';
import { toText } from './to-text.js';

const convert = ({ html, format }: ConvertJob): ConvertReply => {
  try {
    return { text: format === 'markdown' ? toMarkdown(html) : toText(html) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
};

parentPort?.on('message', (job: ConvertJob) => parentPort?.postMessage(convert(job)));

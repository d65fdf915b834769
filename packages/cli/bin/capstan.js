#!/usr/bin/env node
import { existsSync } from 'node:fs';

const main = new URL('../bundle/main.js', import.meta.url);
if (!existsSync(main)) {
  console.error('capstan is not built yet: run `npm run build` (or `npm start`) in the repository first.');
  process.exit(2);
}
await import(main.href);

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Artifact } from '@capstan/contracts';
import type { Download } from 'playwright-core';
import { DEFAULT_ARTIFACT_LIMITS } from '../artifact/collect-artifacts.js';
import { mediaTypeOf } from '../artifact/media-type.js';
import { redactedContent } from '../artifact/redact-file.js';
import type { BrowserRun } from './browser-tool.js';

/** Saves the files that the page downloaded, within the limits of the visit. */
export async function keepDownloads({ call, visit }: BrowserRun): Promise<Artifact[]> {
  const kept: Artifact[] = [];
  for (const download of visit.downloads.splice(0)) {
    const name = call.redact.text(download.suggestedFilename());
    const artifact = await keepOne(call, download, name).catch((error: unknown) => String(error));
    if (typeof artifact !== 'string') kept.push(artifact);
    else call.log('stderr', `${call.redact.text(`${name} was not kept: ${artifact}`)}\n`);
  }
  return kept;
}

async function keepOne({ keep, redact }: BrowserRun['call'], download: Download, name: string) {
  const file = await open(await download.path(), constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = await file.stat();
    const { max_bytes } = DEFAULT_ARTIFACT_LIMITS;
    if (size > max_bytes) return `it has ${size} bytes, of ${max_bytes} that a file may have`;
    return await keep({ name, media_type: mediaTypeOf(name), content: await redactedContent(file, redact) });
  } finally {
    await file.close();
    await download.delete().catch(() => {});
  }
}

import type { Artifact, Json, JsonObject } from '@capstan/contracts';
import type { Converter } from '../api/html/create-converter.js';
import type { Call, RunOutcome } from '../runner.js';
import type { BrowserVisit } from './browser-visit.js';

/** One run of a browser tool, and what it works with. */
export type BrowserRun = { call: Call; visit: BrowserVisit; converter: Converter; done: Done };

/** The steps that are behind it and what they left: also of a run that is stopped before its end. */
export type Done = { steps: Json[]; artifacts: Artifact[] };

export type BrowserTool = {
  /** The addresses it begins with, to be checked before a browser is involved; a Failure for inputs that are wrong. */
  prepare(inputs: JsonObject): PreparedTool;
};

export type PreparedTool = {
  urls: string[];
  viewport?: { width: number; height: number } | undefined;
  run(run: BrowserRun): Promise<RunOutcome>;
};

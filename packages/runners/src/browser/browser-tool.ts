import type { Artifact, Json, JsonObject } from '@capstan/contracts';
import type { Converter } from '../api/html/create-converter.js';
import type { Call, RunOutcome } from '../runner.js';
import type { BrowserVisit } from './browser-visit.js';

/** One run of a browser tool. */
export type BrowserRun = { call: Call; visit: BrowserVisit; converter: Converter; done: Done };

/** The steps done so far, with their artifacts, even if the run is stopped early. */
export type Done = { steps: Json[]; artifacts: Artifact[] };

export type BrowserTool = {
  /** Returns the first addresses, which are checked before a browser is used. Throws a Failure if the inputs are invalid. */
  prepare(inputs: JsonObject): PreparedTool;
};

export type PreparedTool = {
  urls: string[];
  viewport?: { width: number; height: number } | undefined;
  run(run: BrowserRun): Promise<RunOutcome>;
};

import type { Egress } from '@capstan/egress';
import type { Call, RunOutcome } from '../runner.js';
import type { Converter } from './html/create-converter.js';

/** One run of an api tool. */
export type ApiContext = {
  call: Call;
  egress: Egress;
  converter: Converter;
  /** Hosts that were contacted. */
  domains: Set<string>;
};

export type ApiTool = (context: ApiContext, inputs: Call['inputs']) => Promise<RunOutcome>;

export type Check = {
  name: string;
  /** `missing` stops `capstan up`; `failed` is a named gateway that does not work; `absent` only means that a feature is not available. */
  state: 'ok' | 'missing' | 'failed' | 'absent';
  found: string;
  advice?: string;
};

/** One thing that was looked at. */
export type Check = {
  name: string;
  /** `missing` stops `capstan up`; `absent` only means that something will not be there. */
  state: 'ok' | 'missing' | 'absent';
  found: string;
  advice?: string;
};

/** `12ms`, `1.2s`, `2m 5s`, `1h 3m`, `2d 4h`. */
export const formatDuration = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return pair(Math.floor(seconds / 60), 'm', seconds % 60, 's');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1440) return pair(Math.floor(minutes / 60), 'h', minutes % 60, 'm');
  const hours = Math.floor(minutes / 60);
  return pair(Math.floor(hours / 24), 'd', hours % 24, 'h');
};

const pair = (large: number, largeUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit} ${small}${smallUnit}`;

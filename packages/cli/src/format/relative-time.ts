const UNITS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
  [1, 's'],
] as const;
const A_MONTH_S = 30 * 86_400;

/** `now`, `5s ago`, `in 3m`; the date if it is more than a month away. */
export const relativeTime = (time: string, now: Date): string => {
  const seconds = Math.round((now.getTime() - Date.parse(time)) / 1000);
  const distance = Math.abs(seconds);
  if (Number.isNaN(seconds)) return '-';
  if (distance < 1) return 'now';
  if (distance > A_MONTH_S) return time.slice(0, 10);
  const [size, unit] = UNITS.find(([each]) => distance >= each) ?? UNITS[3];
  const amount = `${Math.floor(distance / size)}${unit}`;
  return seconds > 0 ? `${amount} ago` : `in ${amount}`;
};

/** The time, and its distance from now. */
export const absoluteTime = (time: string, now: Date): string => {
  const relative = relativeTime(time, now);
  return time.startsWith(relative) ? time : `${time} (${relative})`;
};
